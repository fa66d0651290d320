# ntff-tools. `make help` lists the targets; VARIANT=release|debug|asan|tsan|cov picks the flags.

VARIANT ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
# below PREFIX unless said otherwise; Debian's libraries and zsh's functions have places of their own
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR  ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
CC      ?= gcc
VERSION := 0.1.0
MAINTAINER ?= ntff-tools maintainers <maintainers@ntff-tools.invalid>

B   := build/$(VARIANT)
GEN := $(B)/gen

PKG_CONFIG ?= pkg-config
PKGS := libprotobuf-c zlib json-c ncursesw
# the oldest that will do: optional fields, json_object_get_uint64, set_escdelay
PROBE := 'libprotobuf-c >= 1.3.3' 'zlib >= 1.2.5' 'json-c >= 0.14' 'ncursesw >= 6.0'
DEBS := gcc make pkg-config protobuf-compiler protobuf-c-compiler libprotobuf-c-dev zlib1g-dev \
        libjson-c-dev libncurses-dev
# what the tests want besides
TEST_DEBS := $(DEBS) jq tmux python3 procps

ifeq ($(V),1)
Q :=
else
Q := @
endif

WARN := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings
ifneq ($(CI),)
WARN += -Werror
endif

HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
LD_HARDEN := -pie -Wl,-z,relro,-z,now
OPT_release := -O2 -g $(HARDEN)
OPT_debug   := -O0 -g3
OPT_clang   := -O1
OPT_asan    := -O1 -g3 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT_tsan    := -O1 -g3 -fsanitize=thread -fno-omit-frame-pointer
OPT_cov     := -O0 -g3 --coverage
# with clang only, see fuzz below; its pointer-overflow refuses NULL + 0, which C2y allows
OPT_fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow \
               -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LD_release  := $(LD_HARDEN)
LD_asan     := -fsanitize=address,undefined
LD_tsan     := -fsanitize=thread
LD_cov      := --coverage
LD_fuzz     := -fsanitize=address,undefined

PKG_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
LIBS_CORE  = $(shell $(PKG_CONFIG) --libs libprotobuf-c zlib json-c 2>/dev/null)
LIBS_TUI   = $(shell $(PKG_CONFIG) --libs ncursesw 2>/dev/null)

# no name of a directory of this machine in what is built: the same source, the same bytes
ALL_CFLAGS = -std=c11 -ffile-prefix-map=$(CURDIR)=. -pthread -D_GNU_SOURCE -DNTFF_VERSION='"$(VERSION)"' $(WARN) $(OPT_$(VARIANT)) -I. -I$(GEN) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(LD_$(VARIANT)) $(LDFLAGS)

PROTOS   := ntff neuron_trace
GEN_C    := $(PROTOS:%=$(GEN)/proto/%.pb-c.c)
GEN_O    := $(GEN_C:.c=.o)
SRC_proto    := $(sort $(wildcard proto/*.c))
SRC_perfetto := $(sort $(wildcard perfetto/*.c))
SRC_conv     := $(filter-out conv/main.c,$(sort $(wildcard conv/*.c)))
SRC_tui      := $(filter-out tui/main.c tui/term.c,$(sort $(wildcard tui/*.c)))
SRC_unit     := $(wildcard tests/unit/test_*.c)
SRC_gen      := $(wildcard tests/gen/*.c)
SRC_bench    := $(wildcard tests/bench/*.c)
FUZZ_TARGETS := $(patsubst tests/fuzz/target_%.c,%,$(wildcard tests/fuzz/target_*.c))
objs = $(patsubst %.c,$(B)/%.o,$(1))

LIB_NTFF := $(B)/libntff.a
LIB_PFT  := $(B)/libpft.a
LIB_CONV := $(B)/libconv.a
LIB_TUI  := $(B)/libtui.a
UNIT     := $(SRC_unit:tests/unit/%.c=$(B)/tests/%)
TOOLS    := $(SRC_gen:tests/gen/%.c=$(B)/tools/%) $(SRC_bench:tests/bench/%.c=$(B)/tools/%) $(B)/tools/tui_play $(B)/tools/sweep
FUZZ     := $(FUZZ_TARGETS:%=$(B)/fuzz/%)
PROGS    := $(B)/ntff-conv $(B)/ntff-tui
TORTURE  := $(B)/torture/ntff-conv $(B)/torture/ntff-tui
# made from the tables of options, and installed; .package/README.md
PAGES    := $(B)/man/ntff-conv.1 $(B)/man/ntff-tui.1 $(B)/man/ntff.5
COMPLETE := $(foreach p,ntff-conv ntff-tui,$(B)/completions/$(p).bash $(B)/completions/_$(p))
# the headers a user of libntff.a needs: load.h and sink.h with all they include
HEADERS  := $(addprefix proto/,base.h clock.h diag.h error.h load.h mem.h model.h schema.h sink.h)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all everything lib describe deb dist check bench bench-clock demo install uninstall sanitize tsan fuzz fuzz-keep torture sweep bombs \
        fmt fmt-check lint clean help deps tools golden FORCE

all: $(PROGS) build/ntff-conv build/ntff-tui ## build both programs
everything: all lib describe tools $(UNIT) $(FUZZ) $(TORTURE)
describe: $(PAGES) $(COMPLETE) ## manual pages and completions, in build/release
lib: $(LIB_NTFF)
tools: $(TOOLS)

build/ntff-conv build/ntff-tui: build/%: $(B)/%
	$(Q)ln -sf $(VARIANT)/$* $@

# -- flags file: changing flags rebuilds --------------------------------------------------------
$(B)/flags: FORCE
	$(Q)PKG_CONFIG='$(PKG_CONFIG)' CC='$(CC)' .package/probe.sh $(PROBE)
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CC) $(subst ','\'',$(ALL_CFLAGS)) $(ALL_LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(subst ','\'',$(ALL_CFLAGS)) $(ALL_LDFLAGS)' > $@

# -- generated code -------------------------------------------------------------------------------
$(GEN)/proto/%.pb-c.c $(GEN)/proto/%.pb-c.h &: proto/%.proto $(wildcard proto/*.proto)
	$(Q)mkdir -p $(GEN)
	$(Q)echo "  PROTOC  $<"; protoc-c -I. --c_out=$(GEN) $<
$(GEN)/%.o: $(GEN)/%.c $(B)/flags | $(GEN_C)
	$(Q)echo "  CC      $<"; $(CC) $(ALL_CFLAGS) -w -c -o $@ $<

$(B)/%.o: %.c $(B)/flags | $(GEN_C)
	$(Q)mkdir -p $(@D)
	$(Q)echo "  CC      $<"; $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

define archive
	$(Q)echo "  AR      $@"; rm -f $@; $(AR) rcsD $@ $(filter %.o,$^)
endef
$(LIB_NTFF): $(call objs,$(SRC_proto)) $(GEN_O)
	$(archive)
$(LIB_PFT): $(call objs,$(SRC_perfetto))
	$(archive)
$(LIB_CONV): $(call objs,$(SRC_conv))
	$(archive)
$(LIB_TUI): $(call objs,$(SRC_tui))
	$(archive)

define link
	$(Q)mkdir -p $(@D)
	$(Q)echo "  LD      $@"; $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^)
endef
$(B)/ntff-conv: $(B)/conv/main.o $(LIB_CONV) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(LIBS_CORE) -lm
$(B)/ntff-tui: $(B)/tui/main.o $(B)/tui/term.o $(LIB_TUI) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(LIBS_TUI) $(LIBS_CORE) -lm
# the programs again, with calls that can be made to fail
WRAPPED := malloc calloc realloc strdup strndup open_memstream regcomp pthread_create glob realpath \
           __realpath_chk asprintf __asprintf_chk open fopen close stat fstat lseek madvise read mmap \
           fts_open fts_read scandir rename renameat2 mkdir write json_tokener_parse_ex
WRAP := $(WRAPPED:%=-Wl,--wrap=%)
$(B)/torture/ntff-conv: $(B)/conv/main.o $(B)/tests/torture/faults.o $(LIB_CONV) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(WRAP) $(LIBS_CORE) -lm
$(B)/torture/ntff-tui: $(B)/tui/main.o $(B)/tui/term.o $(B)/tests/torture/faults.o $(LIB_TUI) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(WRAP) $(LIBS_TUI) $(LIBS_CORE) -lm
$(B)/tests/%: $(B)/tests/unit/%.o $(call objs,$(wildcard tests/*.c)) $(LIB_TUI) $(LIB_CONV) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(LIBS_CORE) -lm
$(B)/tools/%: $(B)/tests/gen/%.o
	$(link) $(LIBS_CORE) -lm
$(B)/tools/bench_clock: $(B)/tests/clock_sim.o
$(B)/tools/tui_play: $(B)/tests/tui/play.o $(B)/tests/made.o $(B)/tests/made_recipes.o $(LIB_TUI) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(LIBS_CORE) -lm
$(B)/tools/describe: $(call objs,$(wildcard .package/*.c)) $(LIB_TUI) $(LIB_CONV) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(LIBS_CORE) -lm
# a target with a main of its own that replays files; in VARIANT=fuzz libFuzzer brings the main
FUZZ_MAIN := $(if $(filter fuzz,$(VARIANT)),,$(B)/tests/fuzz/replay.o)
$(B)/fuzz/%: $(B)/tests/fuzz/target_%.o $(call objs,$(wildcard tests/fuzz/[!rt]*.c) tests/check_trace.c tests/made.c tests/made_recipes.c) $(FUZZ_MAIN) $(LIB_TUI) $(LIB_CONV) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(if $(FUZZ_MAIN),,$(FUZZ_ENGINE)) $(LIBS_CORE) -lm
$(B)/tools/sweep: $(call objs,$(wildcard tests/sweep/*.c)) $(B)/tests/check_trace.o $(LIB_CONV) $(LIB_PFT) $(LIB_NTFF)
	$(link) -Wl,--wrap=mmap,--wrap=munmap $(LIBS_CORE) -lm
$(B)/tools/bench_tui: $(B)/tests/made.o $(B)/tests/made_recipes.o
$(B)/tools/%: $(B)/tests/bench/%.o $(LIB_TUI) $(LIB_CONV) $(LIB_PFT) $(LIB_NTFF)
	$(link) $(LIBS_CORE) -lm

# -- what is installed besides the programs -----------------------------------------------------------
define generate
	$(Q)mkdir -p $(@D)
	$(Q)echo "  GEN     $@"; $(B)/tools/describe $(1) > $@
endef
$(B)/man/%: conv/%.in $(B)/tools/describe
	$(call generate,page $(basename $*) $<)
$(B)/man/%: tui/%
	$(Q)mkdir -p $(@D); cp $< $@
$(B)/man/%: proto/%
	$(Q)mkdir -p $(@D); cp $< $@
$(B)/completions/%.bash: $(B)/tools/describe
	$(call generate,bash $*)
$(B)/completions/_%: $(B)/tools/describe
	$(call generate,zsh $*)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# -- use --------------------------------------------------------------------------------------------
deps: ## install the packages this needs (as root), else print the line
	$(Q)tests/deps.sh $(DEBS)

check: ## build and run all tests; last line: N passed, N failed, N skipped
	$(Q)tests/deps.sh $(TEST_DEBS)
	$(Q)$(MAKE) --no-print-directory everything
	$(Q)BUILD=$(CURDIR)/$(B) tests/run

demo: ## build, convert the bundled sample session, say what to open
	$(Q)tests/deps.sh $(DEBS)
	$(Q)$(MAKE) --no-print-directory all $(B)/tools/delimit $(B)/tools/mkntff
	$(Q)BUILD=$(CURDIR)/$(B) samples/demo.sh

bench: all tools ## speed, memory and size as ratios in one run, into BENCHMARKS.md
	$(Q)BUILD=$(CURDIR)/$(B) BENCH_MD=BENCHMARKS.md tests/bench/run.sh
bench-clock: tools ## error of placed device events against truth, per noise model
	$(Q)$(B)/tools/bench_clock

sanitize: ## the test suite under address and undefined behaviour sanitizers
	$(Q)$(MAKE) --no-print-directory VARIANT=asan check

torture: tools $(TORTURE) ## every call of the programs fails once (long)
	$(Q)mkdir -p $(B)/scratch
	$(Q)BUILD=$(CURDIR)/$(B) SRC=$(CURDIR) TMP=$(CURDIR)/$(B)/scratch tests/torture/torture.py --all

bombs: tools $(B)/ntff-conv ## ten million of everything, a value of a gigabyte (a quarter of an hour, 10 GB)
	$(Q)mkdir -p $(B)/scratch
	$(Q)cd $(B)/scratch && BOMBS=full BUILD=$(CURDIR)/$(B) $(CURDIR)/tests/bombs.py; rc=$$?; rm -rf $(CURDIR)/$(B)/scratch; exit $$rc

# JOBS=processes; W=words picks tasks, make sweep W='cut: every_kind'
JOBS ?= $(shell nproc)
sweep: tools ## every prefix of each sample file, every value of every byte of small ones (an hour)
	$(Q)t=$$(mktemp -d -p "$$(test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp})") && \
	    { BUILD=$(CURDIR)/$(B) SRC=$(CURDIR) TMP=$$t tests/sweep/sweep.py -v -j $(JOBS) $(W); rc=$$?; rm -rf $$t; exit $$rc; }

# clang only: make fuzz T=ntrace S=60. New inputs stay in build/fuzz/corpus/TARGET, what breaks in
# build/fuzz/found; make fuzz-keep T=ntrace merges what is new into the kept corpus.
T ?= ntrace
S ?= 60
FUZZ_ENGINE ?= -fsanitize=fuzzer
FUZZ_CC = $(if $(findstring afl,$(CC)),$(CC),clang)
FUZZ_MAKE = $(MAKE) --no-print-directory VARIANT=fuzz CC=$(FUZZ_CC) FUZZ_ENGINE='$(FUZZ_ENGINE)' build/fuzz/fuzz/$(T)
FUZZ_RUN  = SRC=$(CURDIR) build/fuzz/fuzz/$(T) -rss_limit_mb=2048 -timeout=10 -max_len=12000
fuzz: tools $(B)/ntff-conv ## fuzz target T for S seconds (clang); T is one of tests/fuzz/target_*.c
	$(Q)$(FUZZ_MAKE)
	$(Q)mkdir -p build/fuzz/corpus/$(T) build/fuzz/found
	$(Q)tests/fuzz/seeds.py $(CURDIR)/$(B) $(T) build/fuzz/seeds/$(T)
	$(Q)$(FUZZ_RUN) -max_total_time=$(S) -artifact_prefix=build/fuzz/found/$(T)- -print_final_stats=1 \
	    build/fuzz/corpus/$(T) tests/fuzz/corpus/$(T) build/fuzz/seeds/$(T) </dev/null
fuzz-keep: ## merge what fuzzing found new into tests/fuzz/corpus/T, small inputs first
	$(Q)$(FUZZ_MAKE)
	$(Q)$(FUZZ_RUN) -merge=1 -max_len=1500 tests/fuzz/corpus/$(T) build/fuzz/corpus/$(T) </dev/null

tsan: ## the tests of threads under the thread sanitizer
	$(Q)$(MAKE) --no-print-directory VARIANT=tsan all tools build/tsan/tests/test_worker
	$(Q)BUILD=$(CURDIR)/build/tsan setarch -R tests/run cli/jobs unit/test_worker

golden: all tools ## rewrite expected outputs; read the diff afterwards
	$(Q)UPDATE=1 BUILD=$(CURDIR)/$(B) tests/run

# where each installed file goes; uninstall removes exactly these
INSTALLED = $(addprefix $(BINDIR)/,$(notdir $(PROGS))) $(LIBDIR)/libntff.a $(LIBDIR)/pkgconfig/ntff.pc \
  $(addprefix $(INCLUDEDIR)/ntff/,$(notdir $(HEADERS))) $(MANDIR)/man1/ntff-conv.1 $(MANDIR)/man1/ntff-tui.1 \
  $(MANDIR)/man5/ntff.5 $(BASHDIR)/ntff-conv $(BASHDIR)/ntff-tui $(ZSHDIR)/_ntff-conv $(ZSHDIR)/_ntff-tui
DIST ?= build
# by name, or make -n would run the line
INSTALL_BY = $(MAKE) --no-print-directory VARIANT=$(VARIANT) install
deb: all lib describe ## Debian packages, into build/
	$(Q)VERSION='$(VERSION)' MAINTAINER='$(MAINTAINER)' OUT='$(abspath $(DIST))' \
	    MAKE_INSTALL='$(INSTALL_BY)' .package/deb.sh
dist: ## the committed source as build/ntff-tools-VERSION.tar.gz
	$(Q).package/dist.sh ntff-tools-$(VERSION) $(abspath $(DIST))/ntff-tools-$(VERSION).tar.gz

below = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
install: all lib describe ## install programs, library, pages and completions: DESTDIR, PREFIX, LIBDIR...
	install -d $(sort $(dir $(addprefix $(DESTDIR),$(INSTALLED))))
	install -m 755 $(PROGS) $(DESTDIR)$(BINDIR)
	install -m 644 $(LIB_NTFF) $(DESTDIR)$(LIBDIR)
	sed 's|@PREFIX@|$(abspath $(PREFIX))|; s|@LIBDIR@|$(call below,$(LIBDIR))|; s|@INCLUDEDIR@|$(call below,$(INCLUDEDIR))|; s|@VERSION@|$(VERSION)|' \
	    .package/ntff.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/ntff.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/ntff.pc
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/ntff
	install -m 644 $(filter %.1,$(PAGES)) $(DESTDIR)$(MANDIR)/man1
	install -m 644 $(filter %.5,$(PAGES)) $(DESTDIR)$(MANDIR)/man5
	for p in $(notdir $(PROGS)); do \
	    install -m 644 $(B)/completions/$$p.bash $(DESTDIR)$(BASHDIR)/$$p && \
	    install -m 644 $(B)/completions/_$$p $(DESTDIR)$(ZSHDIR)/_$$p || exit 1; done
# and of their directories those that are left empty; /usr and /usr/local keep what every system has there
ROOTED = $(if $(DESTDIR),,$(filter /usr /usr/local,$(abspath $(PREFIX))))
LEFT   = $(patsubst $(PREFIX)/%/,%,$(filter $(PREFIX)/%,$(sort $(dir $(INSTALLED)))))
uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	$(Q)cd '$(DESTDIR)$(PREFIX)' 2>/dev/null || exit 0; \
	    rmdir $(if $(ROOTED),$(foreach d,$(LEFT),$(if $(findstring /,$(d)),$(d))),-p $(LEFT)) 2>/dev/null; exit 0

SOURCES := $(wildcard proto/*.[ch] perfetto/*.[ch] conv/*.[ch] tui/*.[ch] .package/*.[ch] tests/*.[ch] tests/*/*.[ch])
fmt: ## format all sources
	clang-format -i $(SOURCES)
fmt-check: ## fail if clang-format would change something
	clang-format --dry-run -Werror $(SOURCES)
lint: ## layering, headers on their own, static analysis
	$(Q)tests/lint.sh $(B)

clean: ## remove build/
	rm -rf build
help: ## this list
	$(Q)sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
