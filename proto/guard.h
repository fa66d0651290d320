/* guard - what a program sets up for its process, once, in main. The library never does it by
 * itself: handlers and limits are not its own. Knows: input, out. */
#ifndef NTFF_GUARD_H
#define NTFF_GUARD_H

/* Inputs stay open and mapped as long as their trace: allows as many open files as the system does,
 * and lets a reader see zeros, which are counted as a changed file, where a file was cut under it.
 */
void ntff_guard_inputs(void);

/* Lets no signal that ends the process leave a half-written output behind; signals that are ignored
 * stay so. */
void ntff_guard_outputs(void);

#endif
