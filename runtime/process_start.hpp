// What a program of ranks sets right before it does anything else: descriptors that its parent has
// closed, and signals that would not do what they should.
#pragma once

namespace ringside {

// A missing standard descriptor would be taken by the next pipe or socket, and text for the user
// would go into it. It is opened on /dev/null the wrong way round: using it fails, as before.
void open_standard_descriptors();

// As process 1 of a container the system passes no signal on that has no handler: then those that
// end a program get one. A file past its limit, and a reader that leaves, are errors, no signals.
void set_signals();

}  // namespace ringside
