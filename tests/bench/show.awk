# show.awk - rows of the benchmarks as text, and as Markdown into the file named by md, if any.
#
# Input, one line each:   == TITLE             a new table
#                         -- TEXT              a remark on the row before
#                         WHAT<TAB>VALUE<TAB>UNIT<TAB>WANTED<TAB>VERDICT
# The Markdown begins with the text of the file named by intro.
BEGIN {
    FS = "\t"
    if (md) {
        while ((getline line < intro) > 0)
            print line > md
    }
}
/^== / {
    title = substr($0, 4)
    print title
    if (md) {
        print "\n## " title "\n" > md
        print "| | measured | wanted | reached |" > md
        print "|---|---:|---|---|" > md
    }
    fflush()
    next
}
/^-- / {
    print "    " substr($0, 4)
    next
}
NF >= 2 {
    value = sprintf($2 >= 1000 ? "%.0f" : $2 >= 100 ? "%.1f" : "%.3g", $2)
    printf "  %-58s %9s %-10s %-14s %s\n", $1, value, $3, $4, $5
    if (md) {
        what = $1
        gsub(/\|/, "\\|", what)
        wanted = $4
        gsub(/</, "\\<", wanted)
        gsub(/>/, "\\>", wanted)
        printf "| %s | %s%s | %s | %s |\n", what, value, $3 ? " " $3 : "", wanted, $5 > md
    }
    fflush()
}
NF == 1 && !/^(==|--) / {
    print
}
