// Every change of a name that a person's tools read or run, made by a real program in a draft: it may succeed there, and the root
// is the same to the last byte, mode and time afterwards. As root and as an ordinary user.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DRAFT_ATTEMPTS } from "./attempts/drafts.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import { rootOf, type Scene } from "./scene.ts";
import { Warm } from "./warm.ts";

/** Fewer would mean that the attempts fail for another reason than the tested one. */
const openMin = 80;

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each(callers())("as $caller", (who) => {
  let scene: Scene;
  let owner: Warm;
  let open = 0;

  beforeAll(async () => {
    ({ scene } = await fixture.scene(who));
    owner = await Warm.start(fixture, who, scene, "draft");
  });
  afterAll(async () => {
    await owner.end();
    await scene.end();
  });

  test.each(DRAFT_ATTEMPTS)("%s: %s", async (word) => {
    const before = rootOf(scene);
    const [made] = await owner.probe(word);
    expect(made?.outcome).toMatch(/^(open|blocked)$/);
    if (made?.outcome === "open") open++;
    expect(rootOf(scene)).toEqual(before);
  });

  test("most of them succeed in the draft", () => expect(open).toBeGreaterThanOrEqual(openMin));
});
