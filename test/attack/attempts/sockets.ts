// Sockets that lead past the network, the machine's loopback, and memory shared with the machine.
import { type Attempt, attempt } from "../attempt.ts";

const UNIX: readonly (readonly [key: string, what: string])[] = [
  ["unix_outside", "a Unix socket beside the root"],
  ["unix_state", "the daemon's socket"],
  ["unix_inside", "a Unix socket of the machine that lies in the root"],
  ["unix_abstract", "an abstract Unix socket"],
];

export const SOCKETS: readonly Attempt[] = [
  ...UNIX.map(([key, what]) => attempt(`unix-connect=${key}`, `connects to ${what}`, "seccomp", "EAFNOSUPPORT")),
  attempt(
    "unix-send-from-pair=unix_datagram",
    "sends from a pair to a socket in the root",
    "seccomp",
    "EPROTONOSUPPORT",
  ),
  attempt(
    "unix-send-from-pair=unix_abstract_datagram",
    "sends from a pair to an abstract socket",
    "seccomp",
    "EPROTONOSUPPORT",
  ),
  // On an overlay the name is no longer the listening socket.
  attempt(
    "unix-redirect-pair=unix_inside",
    "connects one of a socket pair to another socket",
    "mounts",
    "ECONNREFUSED",
  ),
  attempt("unix-bind", "listens in the root", "seccomp", "EAFNOSUPPORT"),
  attempt("unix-bind-pair", "binds one of a socket pair in the root", "landlock", "EACCES"),
  attempt("socket=inet:3:1", "a raw ICMP socket", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet:3:255", "a raw socket for every packet", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet:2:1", "a ping socket", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet6:2:58", "a ping socket, IPv6", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet:1:262", "MPTCP", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet:1:132", "SCTP", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet:5:132", "SCTP in packets", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet:2:136", "UDP-Lite", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=inet:6:33", "DCCP", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=packet:3:768", "a raw packet socket", "seccomp", "EAFNOSUPPORT"),
  attempt("socket=packet:2:0", "a packet socket without headers", "seccomp", "EAFNOSUPPORT"),
  attempt("vsock", "a vsock to the hypervisor", "seccomp", "EAFNOSUPPORT"),
  attempt("socket=alg:5:0", "the kernel's own cryptography", "seccomp", "EAFNOSUPPORT"),
  attempt("socket=netlink:3:9", "audit", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=netlink:3:12", "netfilter", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=netlink:3:15", "device events", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket=netlink:3:16", "generic netlink", "seccomp", "EPROTONOSUPPORT"),
  attempt("socket-families", "every other address family", "seccomp", "EAFNOSUPPORT"),
  attempt("socket-netlinks", "every other netlink protocol", "seccomp", "EPROTONOSUPPORT"),
  attempt("tcp-scene=127.0.0.1/tcp4", "the machine's loopback by TCP", "network namespace", "ECONNREFUSED"),
  attempt("tcp-scene=::1/tcp6", "the same, IPv6", "network namespace", "ECONNREFUSED"),
  attempt("tcp-scene=::ffff:127.0.0.1/tcp4", "the same, IPv4 in IPv6", "network namespace", "ECONNREFUSED"),
  attempt("tcp-scene=0.0.0.0/tcp4", "the same by the unspecified address", "network namespace", "ECONNREFUSED"),
  attempt("fast-open=127.0.0.1/tcp4", "the same with data in the first packet", "network namespace", "ECONNREFUSED"),
  attempt("udp-scene=127.0.0.1/udp4", "the machine's loopback by UDP", "network namespace", [
    "ECONNREFUSED",
    "silence",
  ]),
  attempt("udp-scene=::1/udp6", "the same, IPv6", "network namespace", ["ECONNREFUSED", "silence"]),
  attempt("interfaces", "sees an interface of the machine", "network namespace", "none"),
  attempt("ipc-memory", "the machine's shared memory", "ipc namespace", "ENOENT"),
  attempt("ipc-messages", "the machine's message queues", "ipc namespace", "ENOENT"),
  attempt("ipc-semaphores", "the machine's semaphores", "ipc namespace", "ENOENT"),
  attempt("ipc-queue", "the machine's POSIX queues", "seccomp", "EPERM"),
  attempt("ipc-named-memory", "the machine's /dev/shm", "mounts", "ENOENT"),
];

/** Traffic that would leave this machine, if a sandbox has the machine's network, is not tried there. */
export const ADDRESSES: readonly Attempt[] = [
  attempt("tcp=192.0.2.1/443", "an address without a name", "network namespace", "ENETUNREACH"),
  attempt("tcp=2001:db8::1/443", "the same, IPv6", "network namespace", "ENETUNREACH"),
  attempt("tcp=169.254.169.254/80", "the cloud metadata address", "network namespace", "ENETUNREACH"),
  attempt("tcp=198.18.0.1/15001", "the address of a broker's listener", "network namespace", "ENETUNREACH"),
  attempt("tcp=198.18.0.2/1", "the address of a broker's credential port", "network namespace", "ENETUNREACH"),
  attempt("udp=192.0.2.1/53", "another name server", "network namespace", "ENETUNREACH"),
  attempt("udp=192.0.2.1/443", "QUIC", "network namespace", "ENETUNREACH"),
];
