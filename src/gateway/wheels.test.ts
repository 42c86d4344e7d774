import { expect, test } from "vitest";
import { readWheels, wheelPrograms } from "./wheels.ts";

const SERVER = { kind: "pypi", name: "my-server[cli]" } as const;
const wheel = (file: string, digest = "a"): { file: string; digest: string; integrity: string } => ({
  file,
  digest: digest.repeat(64),
  integrity: `sha256-${digest}`,
});
const own = wheel("My_Server-1.2-py3-none-any.whl");

test("every wheel and the version of Python are lines of the pin, in an order of their own", () => {
  const leaf = wheel("leaf.x-3!1.0+cpu-2-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "b");
  const value = {
    ...{ version: "1.2", integrity: "sha256-a", record: "My_Server-1.2.dist-info/RECORD", packages: 2, scripts: [] },
    lines: "python3.11\nmy-server 1.2 sha256-a\nleaf-x 3!1.0+cpu sha256-b\n",
    requirements: `my-server==1.2 --hash=sha256:${"a".repeat(64)}\nleaf-x==3!1.0+cpu --hash=sha256:${"b".repeat(64)}\n`,
  };
  expect(readWheels([leaf, own], SERVER, "python3.11")).toEqual({ ok: true, value });
  expect(readWheels([own, leaf], SERVER, "python3.11")).toEqual({ ok: true, value });
});

test.each([
  ["a source archive", [own, wheel("leaf-1.0.tar.gz")], "is no wheel"],
  ["a name with a path", [own, wheel("../leaf-1.0-py3-none-any.whl")], "is no wheel"],
  ["a name with a line", [own, wheel("leaf-1.0\n-e.-py3-none-any.whl")], "is no wheel"],
  ["a package twice", [own, wheel("my.server-1.3-py3-none-any.whl")], "my-server twice"],
  ["another package alone", [wheel("my_servers-1.2-py3-none-any.whl")], "did not download my-server"],
  ["nothing", [], "did not download my-server"],
])("%s is refused", (_, wheels, why) => {
  expect(readWheels(wheels, SERVER, "python3.11")).toEqual({ ok: false, message: expect.stringContaining(why) });
});

test("the programs of a package are those of its record", () => {
  expect(wheelPrograms("../../../bin/two,sha256=x,1\na.py,,\n../../../bin/one,,\n../../../share/x,,\n")).toEqual([
    ...["one", "two"],
  ]);
});
