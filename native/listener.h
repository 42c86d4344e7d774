// The daemon's two sockets: listening, and who it is that comes.
#ifndef AMBIT_DOORS_H
#define AMBIT_DOORS_H

// Serves until the channel ends. The sockets are made in the folder; each that comes is handed over the channel.
int listener_main(int channel, int folder);

#endif
