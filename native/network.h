// The sandbox's side of its network: routes to loopback and the sockets behind them, handed to the broker outside.
#ifndef AMBIT_NETWORK_H
#define AMBIT_NETWORK_H

#include "setup.h"

enum network_mode { network_none = 0, network_ports = 1, network_transparent = 2 };

// Opens everything and hands it out over `handles`. 0, or -1 with errno and the name of the step.
int network_open(const struct network_request *request, int handles, enum network_mode *mode, const char **stage);

#endif
