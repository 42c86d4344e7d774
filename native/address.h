// The addresses of a sandbox's network, in network order.
#ifndef AMBIT_ADDRESS_H
#define AMBIT_ADDRESS_H

#include <stdint.h>

// 198.18.0.0/15 is set aside for tests of networks: no real host has an address in it.
static const uint8_t fake_range[4] = {198, 18, 0, 0};
enum { fake_range_bits = 15 };
static const uint8_t listener_address[4] = {198, 18, 0, 1};
static const uint8_t broker_address[4] = {198, 18, 0, 2};
static const uint8_t dns_address[4] = {198, 18, 0, 53};
// fd00:198:18::1
static const uint8_t listener_address_6[16] = {0xfd, 0x00, 0x01, 0x98, 0x00, 0x18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

enum { dns_port = 53, broker_port = 1, transparent_port = 15001 };

#endif
