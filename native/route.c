// Routes that make addresses of the world lead to loopback.
#include "route.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "netlink.h"

// The first interface of every network namespace is its loopback.
static const uint32_t loopback_index = 1;

int route_to_loopback(int family, const uint8_t *prefix, uint8_t bits) {
  struct netlink request = {0};
  const struct rtmsg route = {
      .rtm_family = (uint8_t)family,
      .rtm_dst_len = bits,
      .rtm_table = RT_TABLE_LOCAL,
      .rtm_protocol = RTPROT_STATIC,
      .rtm_scope = RT_SCOPE_HOST,
      .rtm_type = RTN_LOCAL,
  };
  netlink_message(&request, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK, &route, sizeof route);
  if (bits > 0) netlink_attribute(&request, RTA_DST, prefix, family == AF_INET ? 4 : 16);
  netlink_attribute(&request, RTA_OIF, &loopback_index, sizeof loopback_index);
  return netlink_ask(&request, NETLINK_ROUTE);
}
