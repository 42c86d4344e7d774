// The rule, said to nf_tables in its own words, so that no program has to be there to say it:
//   prerouting, TCP, not to loopback, not to the name server, not to the broker: tproxy to our listener, accept.
#include "tproxy.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "address.h"
#include "netlink.h"

enum { priority_mangle = -150 };

static const char table_name[] = "ambit";
static const char chain_name[] = "prerouting";

static void begin(struct netlink *request, int message, uint16_t flags, int family, uint16_t resource) {
  const struct nfgenmsg head = {(uint8_t)family, NFNETLINK_V0, htons(resource)};
  netlink_message(request, (uint16_t)message, flags, &head, sizeof head);
}

static void begin_table(struct netlink *request, int message, uint16_t flags, int family) {
  begin(request, NFNL_SUBSYS_NFTABLES << 8 | message, flags, family, 0);
}

struct expression {
  size_t element, data;
};

static struct expression open_expression(struct netlink *request, const char *name) {
  struct expression opened;
  opened.element = netlink_open(request, NFTA_LIST_ELEM);
  netlink_text(request, NFTA_EXPR_NAME, name);
  opened.data = netlink_open(request, NFTA_EXPR_DATA);
  return opened;
}

static void close_expression(struct netlink *request, struct expression opened) {
  netlink_close(request, opened.data);
  netlink_close(request, opened.element);
}

static void put_value(struct netlink *request, uint16_t type, const void *value, size_t size) {
  const size_t data = netlink_open(request, type);
  netlink_attribute(request, NFTA_DATA_VALUE, value, size);
  netlink_close(request, data);
}

static void compare(struct netlink *request, uint32_t operation, const void *value, size_t size) {
  const struct expression opened = open_expression(request, "cmp");
  netlink_number(request, NFTA_CMP_SREG, NFT_REG_1);
  netlink_number(request, NFTA_CMP_OP, operation);
  put_value(request, NFTA_CMP_DATA, value, size);
  close_expression(request, opened);
}

static void only_tcp(struct netlink *request) {
  const uint8_t tcp = IPPROTO_TCP;
  const struct expression opened = open_expression(request, "meta");
  netlink_number(request, NFTA_META_KEY, NFT_META_L4PROTO);
  netlink_number(request, NFTA_META_DREG, NFT_REG_1);
  close_expression(request, opened);
  compare(request, NFT_CMP_EQ, &tcp, sizeof tcp);
}

static void load_destination(struct netlink *request, uint32_t offset, uint32_t size) {
  const struct expression opened = open_expression(request, "payload");
  netlink_number(request, NFTA_PAYLOAD_DREG, NFT_REG_1);
  netlink_number(request, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
  netlink_number(request, NFTA_PAYLOAD_OFFSET, offset);
  netlink_number(request, NFTA_PAYLOAD_LEN, size);
  close_expression(request, opened);
}

static void keep_bits(struct netlink *request, const uint8_t *mask, uint32_t size) {
  const uint8_t zero[4] = {0};
  const struct expression opened = open_expression(request, "bitwise");
  netlink_number(request, NFTA_BITWISE_SREG, NFT_REG_1);
  netlink_number(request, NFTA_BITWISE_DREG, NFT_REG_1);
  netlink_number(request, NFTA_BITWISE_LEN, size);
  put_value(request, NFTA_BITWISE_MASK, mask, size);
  put_value(request, NFTA_BITWISE_XOR, zero, size);
  close_expression(request, opened);
}

static void not_loopback(struct netlink *request, int family) {
  if (family == AF_INET) {
    const uint8_t mask[4] = {255, 0, 0, 0}, loopback[4] = {127, 0, 0, 0};
    load_destination(request, 16, 4);
    compare(request, NFT_CMP_NEQ, dns_address, sizeof dns_address);
    compare(request, NFT_CMP_NEQ, broker_address, sizeof broker_address);
    keep_bits(request, mask, sizeof mask);
    compare(request, NFT_CMP_NEQ, loopback, sizeof loopback);
  } else {
    const uint8_t loopback[16] = {[15] = 1};
    load_destination(request, 24, 16);
    compare(request, NFT_CMP_NEQ, loopback, sizeof loopback);
  }
}

static void put_in_register(struct netlink *request, uint32_t where, const void *value, size_t size) {
  const struct expression opened = open_expression(request, "immediate");
  netlink_number(request, NFTA_IMMEDIATE_DREG, where);
  put_value(request, NFTA_IMMEDIATE_DATA, value, size);
  close_expression(request, opened);
}

static void to_listener(struct netlink *request, int family) {
  const uint16_t port = htons(transparent_port);
  if (family == AF_INET) put_in_register(request, NFT_REG_1, listener_address, sizeof listener_address);
  else put_in_register(request, NFT_REG_1, listener_address_6, sizeof listener_address_6);
  put_in_register(request, NFT_REG_2, &port, sizeof port);
  const struct expression opened = open_expression(request, "tproxy");
  netlink_number(request, NFTA_TPROXY_FAMILY, (uint32_t)family);
  netlink_number(request, NFTA_TPROXY_REG_ADDR, NFT_REG_1);
  netlink_number(request, NFTA_TPROXY_REG_PORT, NFT_REG_2);
  close_expression(request, opened);
}

static void accept_packet(struct netlink *request) {
  const struct expression opened = open_expression(request, "immediate");
  netlink_number(request, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
  const size_t data = netlink_open(request, NFTA_IMMEDIATE_DATA);
  const size_t verdict = netlink_open(request, NFTA_DATA_VERDICT);
  netlink_number(request, NFTA_VERDICT_CODE, NF_ACCEPT);
  netlink_close(request, verdict);
  netlink_close(request, data);
  close_expression(request, opened);
}

static void add_table(struct netlink *request, int family) {
  begin_table(request, NFT_MSG_NEWTABLE, NLM_F_CREATE, family);
  netlink_text(request, NFTA_TABLE_NAME, table_name);
}

static void add_chain(struct netlink *request, int family) {
  begin_table(request, NFT_MSG_NEWCHAIN, NLM_F_CREATE, family);
  netlink_text(request, NFTA_CHAIN_TABLE, table_name);
  netlink_text(request, NFTA_CHAIN_NAME, chain_name);
  const size_t hook = netlink_open(request, NFTA_CHAIN_HOOK);
  netlink_number(request, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
  netlink_number(request, NFTA_HOOK_PRIORITY, (uint32_t)priority_mangle);
  netlink_close(request, hook);
  netlink_text(request, NFTA_CHAIN_TYPE, "filter");
}

static void add_rule(struct netlink *request, int family) {
  // The last of the three, and the one that is answered: an error of the others is told in any case.
  begin_table(request, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK, family);
  netlink_text(request, NFTA_RULE_TABLE, table_name);
  netlink_text(request, NFTA_RULE_CHAIN, chain_name);
  const size_t expressions = netlink_open(request, NFTA_RULE_EXPRESSIONS);
  only_tcp(request);
  not_loopback(request, family);
  to_listener(request, family);
  accept_packet(request);
  netlink_close(request, expressions);
}

int tproxy_install(int family) {
  struct netlink request = {0};
  // Netfilter numbers the two families as sockets do.
  _Static_assert(NFPROTO_IPV4 == AF_INET && NFPROTO_IPV6 == AF_INET6, "families");
  begin(&request, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
  add_table(&request, family);
  add_chain(&request, family);
  add_rule(&request, family);
  begin(&request, NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
  return netlink_ask(&request, NETLINK_NETFILTER);
}
