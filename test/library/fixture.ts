// ambit inside an application, for tests: the library in this process, the daemon in its own, on a machine of its own.
import { type Ambit, type AmbitOptions, openLibrary } from "../../src/library/library.ts";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "../state/fixture.ts";

export interface LibraryFixture {
  readonly fixture: Fixture;
  open(options?: AmbitOptions): Promise<Ambit>;
  remove(): Promise<void>;
}

/** Records by id; each may have further lines in its front matter. */
export async function libraryFixture(
  agents: Readonly<Record<string, readonly string[] | { readonly grants: readonly string[]; readonly more: string }>>,
): Promise<LibraryFixture> {
  const fixture = await Fixture.make();
  for (const [id, record] of Object.entries(agents))
    if ("grants" in record) fixture.agent(id, record.grants, record.more);
    else fixture.agent(id, record);
  await fixture.begin();
  const opened: Ambit[] = [];
  return {
    fixture,
    open: async (options = {}) => {
      const machine = { program: root, cwd: fixture.project, environment: fixture.environment, now: () => Date.now() };
      const ambit = await openLibrary(machine, options);
      opened.push(ambit);
      return ambit;
    },
    remove: async () => {
      for (const ambit of opened) await ambit.close();
      await fixture.remove();
    },
  };
}
