// Bubblewrap's arguments show exactly the plan, and never mount anything below a tree that an agent writes.
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import { isWithin } from "../plan-path.ts";
import { at, encode, NETWORK, PLAN, SYSTEM } from "../testing/plan.ts";
import { bubblewrapCommand } from "./bubblewrap.ts";

function argvOf(plan: Plan): readonly string[] {
  return bubblewrapCommand(plan, SYSTEM, encode, plan.root?.mode === "draft" ? "/state/drafts/d-1" : null).argv;
}

/** As one line, to search for consecutive arguments. */
function line(plan: Plan): string {
  return ` ${argvOf(plan).join(" ")} `;
}

/** Destinations of everything that is mounted or created. */
function destinations(argv: readonly string[]): readonly string[] {
  const twoWords = ["--bind", "--ro-bind", "--ro-bind-try", "--dev-bind", "--symlink", "--file"];
  const oneWord = ["--proc", "--tmpfs", "--dir"];
  return argv.flatMap((word, place) => {
    const found = twoWords.includes(word) ? argv[place + 2] : oneWord.includes(word) ? argv[place + 1] : undefined;
    return found === undefined ? [] : [found];
  });
}

describe("the arguments", () => {
  test.each(["--unshare-all", "--as-pid-1", "--new-session", "--clearenv", "--cap-drop ALL", "--hostname ambit"])(
    "have %s",
    (words) => expect(line(PLAN)).toContain(` ${words} `),
  );

  test("keep the host name of a container whose engine forbids another", () => {
    const { argv } = bubblewrapCommand(PLAN, { ...SYSTEM, keepsHostname: true }, encode, "/state/drafts/d-1");
    expect(argv).not.toContain("--hostname");
    expect(argv).toContain("--unshare-all");
  });

  test("never share a namespace of the host, and never mount the whole machine", () => {
    for (const word of ["--share-net", "--unshare-user-try", "--dev"]) expect(argvOf(PLAN)).not.toContain(word);
    expect(destinations(argvOf(PLAN))).not.toContain("/");
  });

  test("give capabilities for the setup alone: those of the network only if there is one", () => {
    const given = (plan: Plan): string[] => argvOf(plan).filter((_, place, all) => all[place - 1] === "--cap-add");
    const read: Plan = { ...PLAN, root: { path: at("/home/u/work/ws"), mode: "ro" } };
    expect(given({ ...read, masked: [] })).toEqual(["CAP_SYS_ADMIN", "CAP_SETPCAP"]);
    // The work folder of an overlay has mode 000.
    for (const plan of [PLAN, read]) expect(given(plan)).toEqual(["CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_DAC_OVERRIDE"]);
    expect(given({ ...PLAN, network: NETWORK })).toEqual([
      "CAP_SYS_ADMIN",
      "CAP_SETPCAP",
      "CAP_DAC_OVERRIDE",
      "CAP_NET_ADMIN",
      "CAP_NET_BIND_SERVICE",
    ]);
  });

  test("have an empty folder for terminals only if the plan has them", () => {
    expect(line(PLAN)).not.toMatch(/pts|tty|ptmx|SETFCAP/);
    const words = line({ ...PLAN, hasTerminals: true });
    for (const part of ["--dir /dev/pts", "--symlink pts/ptmx /dev/ptmx", "--dev-bind-try /dev/tty /dev/tty"])
      expect(words).toContain(` ${part} `);
    expect(words).toContain(" --cap-add CAP_SETFCAP ");
  });

  test("end with our program and its descriptors", () => {
    expect(argvOf(PLAN).slice(-5)).toEqual(["--", "/run/ambit/ambit-native", "sandbox", "3", "-"]);
    expect(argvOf({ ...PLAN, network: NETWORK }).slice(-4)).toEqual(["/run/ambit/ambit-native", "sandbox", "3", "4"]);
  });
});

describe("what is visible of the machine", () => {
  test("programs read-only, links where the machine has links into /usr, folders where it has folders", () => {
    expect(line(PLAN)).toContain(" --ro-bind /usr /usr ");
    expect(line(PLAN)).toContain(" --symlink usr/bin /bin ");
    expect(line(PLAN)).toContain(" --ro-bind /lib64 /lib64 ");
    expect(destinations(argvOf(PLAN))).not.toContain("/sbin");
  });

  test("single files of /etc, never all of it, and none of its secrets", () => {
    const etc = destinations(argvOf(PLAN)).filter((path) => path.startsWith("/etc"));
    expect(etc.sort()).toEqual([
      "/etc/gitconfig",
      "/etc/group",
      "/etc/hosts",
      "/etc/ld.so.cache",
      "/etc/localtime",
      "/etc/nsswitch.conf",
      "/etc/os-release",
      "/etc/passwd",
      "/etc/resolv.conf",
      "/etc/ssl/cert.pem",
      "/etc/ssl/certs",
      "/etc/ssl/openssl.cnf",
    ]);
    expect(line(PLAN)).not.toContain(" /etc/hosts /etc/hosts ");
  });

  test("a minimal /dev without terminals, and nothing to fill in it", () => {
    const devices = destinations(argvOf(PLAN)).filter((path) => path.startsWith("/dev"));
    expect(devices.sort()).toEqual([
      "/dev",
      "/dev/fd",
      "/dev/full",
      "/dev/null",
      "/dev/random",
      "/dev/shm",
      "/dev/stderr",
      "/dev/stdin",
      "/dev/stdout",
      "/dev/urandom",
      "/dev/zero",
    ]);
    expect(line(PLAN)).toContain(" --remount-ro /dev --remount-ro / ");
  });

  test("our own files come over descriptors from 5 on, one each", () => {
    const own = (plan: Plan): ReadonlyMap<string, string> => {
      const { argv, data } = bubblewrapCommand(plan, SYSTEM, encode, "/state/drafts/d-1");
      expect(data.map(({ fd }) => fd)).toEqual(data.map((_, place) => 5 + place));
      expect(argv.filter((word) => word === "--file")).toHaveLength(data.length);
      return new Map(
        data.map(({ fd, bytes }) => {
          const place = argv.findIndex((word, at) => word === String(fd) && argv[at - 1] === "--file");
          return [argv[place + 1] as string, String.fromCharCode(...bytes)];
        }),
      );
    };
    const files = own({ ...PLAN, network: NETWORK });
    expect(files.get("/etc/passwd")).toBe("u:x:1000:1000::/tmp/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n");
    expect(files.get("/etc/hosts")).toBe("127.0.0.1 localhost ambit\n::1 localhost\n");
    expect(files.get("/etc/gitconfig")).toContain("[safe]\ndirectory = *\n");
    expect(files.get("/etc/gitconfig")).not.toMatch(/credential|insteadOf/);
    expect(own({ ...PLAN, network: { ...NETWORK, git: ["git.example"] } }).get("/etc/gitconfig")).toContain(
      '[url "http://198.18.0.2:1/git.example/"]\ninsteadOf = https://git.example/\n',
    );
    expect(files.get("/etc/resolv.conf")).toBe("nameserver 198.18.0.53\n");
    expect(own(PLAN).get("/etc/resolv.conf")).toBe("");
    expect(own(PLAN).get("/etc/nsswitch.conf")).not.toContain("dns");
  });

  test("a name with a colon or a newline does not become a second line of passwd", () => {
    for (const name of ["x:0:0", "a\nroot", "", "nobody"]) {
      const { data } = bubblewrapCommand(PLAN, { ...SYSTEM, user: { ...SYSTEM.user, name } }, encode, "/d");
      expect(String.fromCharCode(...(data[0]?.bytes ?? []))).toMatch(
        /^user:x:1000:1000::\/tmp\/home:\/bin\/sh\nnobody/,
      );
    }
  });
});

describe("trees of the plan", () => {
  test("the root at its own path, if it is read-only, or written directly", () => {
    const root = at("/home/u/work/ws");
    const read: Plan = { ...PLAN, root: { path: root, mode: "ro" }, masked: [] };
    expect(line(read)).toContain(" --ro-bind /home/u/work/ws /home/u/work/ws ");
    expect(line(read)).not.toContain(" --bind ");
    expect(line(read)).not.toContain("/run/ambit/layers");
    const direct: Plan = { ...read, root: { path: root, mode: "direct" } };
    expect(line(direct)).toContain(" --bind /home/u/work/ws /home/u/work/ws ");
    expect(line(direct)).not.toContain("/run/ambit/layers");
  });

  test("a draft: the real root is a read-only layer, and an empty folder is in its place", () => {
    expect(line(PLAN)).toContain(" --dir /home/u/work/ws ");
    expect(line(PLAN)).toContain(" --perms 0700 --tmpfs /run/ambit/layers ");
    expect(line(PLAN)).toContain(" --ro-bind /home/u/work/ws /run/ambit/layers/lower ");
    expect(line(PLAN)).toContain(" --bind /state/drafts/d-1 /run/ambit/layers/draft ");
    expect(argvOf(PLAN).filter((word) => word === "--bind")).toHaveLength(1);
  });

  test("masked names in a read-only root: the same without a draft", () => {
    const read: Plan = { ...PLAN, root: { path: at("/home/u/work/ws"), mode: "ro" } };
    expect(line(read)).toContain(" --ro-bind /home/u/work/ws /run/ambit/layers/lower ");
    expect(line(read)).toContain(" --dir /home/u/work/ws ");
    expect(line(read)).not.toContain(" --bind ");
  });

  test("a draft root without a draft folder, or another with one, is a mistake of ours", () => {
    expect(() => bubblewrapCommand(PLAN, SYSTEM, encode, null)).toThrow();
    const read: Plan = { ...PLAN, root: { path: at("/home/u/work/ws"), mode: "ro" } };
    expect(() => bubblewrapCommand(read, SYSTEM, encode, "/state/drafts/d-1")).toThrow();
  });

  test("program trees are read-only, mounted once, and never below the root", () => {
    expect(line(PLAN)).toContain(" --ro-bind /home/u/.tools/node /home/u/.tools/node ");
    const runtime = [at("/opt/a"), at("/opt/a/b"), at("/home/u/work/ws/tools"), at("/usr/local/go"), at("/opt/a")];
    const shown = destinations(argvOf({ ...PLAN, runtime })).filter((path) => /^\/(opt|home|usr\/)/.test(path));
    expect(shown).toEqual(["/opt/a", "/home/u/work/ws"]);
  });

  test("outer folders are mounted before inner ones", () => {
    const plan: Plan = { ...PLAN, root: { path: at("/opt/a/b"), mode: "draft" }, runtime: [at("/opt/a")] };
    const all = destinations(argvOf(plan));
    expect(all.indexOf("/opt/a")).toBeLessThan(all.indexOf("/opt/a/b"));
    const inUsr = destinations(argvOf({ ...PLAN, root: { path: at("/usr/src/app"), mode: "draft" } }));
    expect(inUsr.indexOf("/usr")).toBeLessThan(inUsr.indexOf("/usr/src/app"));
  });

  test("links are made with the text of the plan, before the top is read-only", () => {
    const argv = line({ ...PLAN, links: [{ path: at("/w/link"), target: at("/home/u/work") }] });
    expect(argv).toMatch(/ --symlink \/home\/u\/work \/w\/link .* --remount-ro \/ /);
  });

  test("no root: nothing of the host but programs", () => {
    expect(line({ ...PLAN, root: null, runtime: [] })).not.toContain("/home/u/");
  });
});

describe("the temporary folder", () => {
  test("is private, limited and at /tmp", () => {
    expect(line(PLAN)).toContain(" --perms 0700 --size 536870912 --tmpfs /tmp ");
    expect(line(PLAN)).toContain(" --symlink /tmp /dev/shm ");
  });

  test.each(["/tmp", "/tmp/project"])(
    "is elsewhere if the root is %s, so that emptying it empties nothing else",
    (root) => {
      const plan: Plan = { ...PLAN, root: { path: at(root), mode: "draft" } };
      expect(line(plan)).toContain(" --tmpfs /run/ambit/tmp ");
      expect(line(plan)).not.toContain(" --tmpfs /tmp ");
      expect(line(plan)).toContain(` --dir ${root} `);
    },
  );
});

test.each([
  "/home/u/work/ws",
  "/tmp",
  "/tmp/x",
  "/usr/src/app",
  "/opt",
  "/etc/nginx",
  "/etc/ssl",
  "/var/lib",
  "/home/u",
])("nothing is mounted or created below a root %s", (root) => {
  const runtime = [at("/home/u/.tools/node"), at("/opt/go"), at("/tmp/x/y")];
  const all = destinations(argvOf({ ...PLAN, root: { path: at(root), mode: "draft" }, runtime }));
  expect(all.filter((path) => path !== root && isWithin(at(path), at(root)))).toEqual([]);
  expect(all.filter((path) => path === root)).toHaveLength(1);
});
