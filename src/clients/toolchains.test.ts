// A folder of the search path shows the trees of the toolchain it belongs to, and an unknown folder shows nothing.
import { expect, test } from "vitest";
import { toolchainAt } from "./toolchains.ts";

const HOME = ["home", "me"];

function treesAt(folder: string): readonly string[] | null {
  const found = toolchainAt(folder.slice(1).split("/"), HOME);
  return found === null ? null : found.trees.map((tree) => `/${tree.join("/")}`);
}

test.each<[string, readonly string[]]>([
  ["/home/me/.nvm/versions/node/v20.1.0/bin", ["/home/me/.nvm/versions/node/v20.1.0"]],
  ["/home/me/.cargo/bin", ["/home/me/.cargo/bin", "/home/me/.rustup"]],
  [
    "/home/me/.local/share/fnm/node-versions/v20/installation/bin",
    ["/home/me/.local/share/fnm/node-versions/v20/installation"],
  ],
  ["/nix/store/abc-profile/bin", ["/nix/store"]],
  ["/opt/go/bin", ["/opt/go"]],
  ["/opt/tools", ["/opt/tools"]],
  ["/home/linuxbrew/.linuxbrew/bin", ["/home/linuxbrew/.linuxbrew"]],
])("%s", (folder, trees) => {
  expect(treesAt(folder)).toEqual(trees);
});

test("programs in ~/.local/bin that npm, uv and installers of clients put there lead to visible files", () => {
  expect(treesAt("/home/me/.local/bin")).toEqual(
    ["bin", "lib/node_modules", "share/uv/python", "share/uv/tools", "share/pipx/venvs", "share/claude/versions"].map(
      (tree) => `/home/me/.local/${tree}`,
    ),
  );
});

test.each([
  "/home/me",
  "/home/me/private",
  "/home/me/.ssh",
  "/home/me/.nvm",
  "/home/me/.cargo",
  "/home/other/.cargo/bin",
  "/opt",
  "/",
  "/home/me/.local/share",
])("%s is no toolchain", (folder) => {
  expect(treesAt(folder)).toBeNull();
});

test("programs look for the toolchain where it is, not in the home inside", () => {
  expect(toolchainAt(["home", "me", ".cargo", "bin"], HOME)?.variables).toEqual([["RUSTUP_HOME", "/home/me/.rustup"]]);
  expect(toolchainAt(["home", "me", ".cargo", "bin"], null)).toBeNull();
});
