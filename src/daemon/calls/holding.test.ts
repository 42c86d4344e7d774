// A session's holding is the same object while all of its inputs are the same, and a new object after any change.
import { describe, expect, test } from "vitest";
import { chain, grant, link } from "../../../test/forge/authority.ts";
import { NO_FACTS } from "../../core/notation/record/user-record.ts";
import type { LinkStore, StoredLink } from "../../core/ports/stores/link-store.ts";
import type { RecordRead, Records, UserRead } from "../parts.ts";
import { Session, type SessionFacts } from "../session.ts";
import { type Holding, Holdings } from "./holding.ts";

const NAME = { workspace: "/w", agent: "scout" };

function userRead(id: string, stamp: string, members: readonly (string | null)[] | null = null): UserRead {
  return {
    authority: [[limit(id)]],
    facts: { ...NO_FACTS, groups: ["ops"] },
    stamp,
    isMemberOf: (workspace) => members === null || members.includes(workspace),
  };
}

class World {
  record: RecordRead = recordOf();
  user: ReturnType<Records["user"]> = null;
  caveats: RecordRead = recordOf();
  isUserRequired = false;
  links: StoredLink[] = [];
  readonly holdings: Holdings;
  readonly session: Session;

  constructor(user: string | null = null) {
    const records = {
      record: () => ({ ok: true, value: this.record }),
      caveats: () => this.caveats,
      user: () => this.user,
      workspaceOf: () => "/w",
      isUserRequired: () => this.isUserRequired,
      readingAt: () => ({}),
    };
    const links = { heldBy: () => this.links, get: () => null, made: () => null };
    this.holdings = new Holdings(records as unknown as Records, links as unknown as LinkStore);
    this.session = this.open(user);
  }

  open(user: string | null = null): Session {
    return new Session({ name: NAME, asked: "scout", cwd: "/w", user, id: "s", trace: "t" } as SessionFacts);
  }

  held(session: Session = this.session): Holding {
    const holding = this.holdings.of(session);
    if ("refused" in holding) throw new Error(holding.refused);
    return holding;
  }
}

function recordOf(): RecordRead {
  const authority = [chain(link("record", [grant("memory.read")]))];
  const rest = { approvers: { need: 1, of: null }, notes: [], reading: {}, stamp: "", placeOf: () => null };
  return { name: NAME, authority, written: null, ...rest } as unknown as RecordRead;
}

const limit = (id: string): ReturnType<typeof link> => link(id, [grant("memory.read")], {}, "limit");
const idsOf = ({ authority }: Holding): readonly string[] => authority.flat().map(({ link: one }) => one.id);

describe("a holding", () => {
  test("is the same object while nothing changed, and each session's own", () => {
    const world = new World("ann");
    expect(world.held()).toBe(world.held());
    expect(world.held(world.open("ann"))).not.toBe(world.held());
  });

  test("is a new object once the record was read again", () => {
    const world = new World();
    const before = world.held();
    world.record = { ...recordOf(), authority: [] };
    expect(world.held()).not.toBe(before);
    expect(world.held().authority).toEqual([]);
  });

  test("is a new object with every pledge", () => {
    const world = new World();
    for (const id of ["first", "second"]) {
      const before = world.held();
      world.session.pledges.push(limit(id));
      expect(world.held()).not.toBe(before);
      expect(idsOf(world.held())).toContain(id);
    }
  });

  test("is a new object once the user's record changes", () => {
    const world = new World("ann");
    world.held();
    world.user = userRead("user ann", "1");
    const held = world.held();
    expect(idsOf(held)).toEqual(["record", "user ann"]);
    world.user = userRead("user ann, narrower", "2");
    expect(idsOf(world.held())).toEqual(["record", "user ann, narrower"]);
  });

  test("is empty once the record of its user is deleted, with or without delegations, until it is back", () => {
    for (const links of [
      [],
      [{ id: "l_1", parent: "gone", granter: NAME, holder: NAME, specs: [], isClean: true, user: null } as never],
    ]) {
      const world = new World("ann");
      world.links = links;
      world.user = userRead("user ann", "1");
      expect(world.held()).toMatchObject({ blocked: null, authority: [expect.anything()] });
      world.user = null;
      expect(world.held()).toMatchObject({ blocked: { code: "unknown_user" }, authority: [], written: null });
      world.user = userRead("user ann", "1");
      expect(idsOf(world.held())).toEqual(["record", "user ann"]);
    }
  });

  test("is empty in a workspace that the user's record does not name", () => {
    const world = new World("ann");
    world.user = userRead("user ann", "1", ["/w"]);
    expect(world.held().blocked).toBeNull();
    world.user = userRead("user ann", "2", ["/other"]);
    expect(world.held()).toMatchObject({ blocked: { code: "unknown_user" }, authority: [] });
  });

  test("acts for the user and for the groups of the user's record", () => {
    const world = new World("ann");
    world.held();
    expect(world.session.principals).toEqual(["user:ann"]);
    world.user = userRead("user ann", "1");
    world.held();
    expect(world.session.principals).toEqual(["user:ann", "group:ops"]);
  });

  test("is empty for a user without a record, and for none, where users are required", () => {
    for (const user of ["ann", null]) {
      const world = new World(user);
      expect(world.held().blocked).toBeNull();
      world.isUserRequired = true;
      expect(world.held()).toMatchObject({ blocked: { code: "unknown_user" }, authority: [] });
    }
    const known = new World("ann");
    known.user = userRead("user ann", "1");
    known.isUserRequired = true;
    expect(known.held().blocked).toBeNull();
  });

  test("has nothing of a delegation whose user had a ceiling and has none any more", () => {
    const world = new World();
    const given = { granter: NAME, holder: NAME, specs: ["memory.read"], parent: null, expires: null, calls: null };
    const link = {
      id: "l_1",
      ...given,
      revoked: null,
      user: "ann",
      isUserLimited: true,
      isClean: true,
      made: 0,
      token: null,
    };
    world.links = [link];
    expect(world.held().authority).toHaveLength(1);
    world.links = [{ ...link, isUserLimited: false }];
    expect(world.held().authority).toHaveLength(2);
  });

  test("is a new object after a delegation, and after its revocation", () => {
    const world = new World();
    const before = world.held();
    world.links = [
      {
        id: "l_1",
        parent: "gone",
        granter: NAME,
        holder: NAME,
        specs: [],
        expires: null,
        user: null,
        isClean: false,
      } as never,
    ];
    expect(world.held()).not.toBe(before);
    expect(world.session.isClean).toBe(false);
    world.links = [];
    expect(world.held()).toBe(before);
  });

  test("of a session with its own grants is a new object once those were read again", () => {
    const world = new World();
    world.holdings.bring(world.session, { text: "{}", account: "a" });
    const before = world.held();
    expect(world.held()).toBe(before);
    world.caveats = recordOf();
    expect(world.held()).not.toBe(before);
  });
});

describe("untrusted grants", () => {
  const text = [chain(link("written", [grant("memory.write")]))];
  const waiting = (): RecordRead => ({ ...recordOf(), authority: [], written: text });
  const given = (id: string): StoredLink =>
    ({ id, granter: NAME, holder: NAME, specs: ["memory.read"], parent: null, expires: null, calls: null }) as never;
  const kept = (id: string): StoredLink => ({ ...given(id), revoked: null, user: null, isClean: true });
  const named = (chains: Holding["authority"] | undefined): unknown =>
    chains?.map((links) => links.map(({ link: one }) => one.id));

  test("are not part of the held ones, and have the same limits", () => {
    const world = new World("ann");
    world.record = waiting();
    world.user = userRead("user ann", "1");
    world.session.pledges.push(limit("pledge"));
    expect(world.held().authority).toEqual([]);
    expect(named(world.held().written?.())).toEqual([["written", "user ann", "pledge"]]);
  });

  test("count for what was delegated from them, too", () => {
    const world = new World();
    world.record = waiting();
    world.links = [kept("l_1")];
    expect(world.held().authority).toEqual([]);
    expect(named(world.held().written?.())).toEqual([["written"], ["written", "l_1"]]);
  });

  test("do not exist where everything counts", () => {
    const world = new World();
    expect(world.held().written).toBeNull();
    world.links = [kept("l_1")];
    expect(world.held().authority).toHaveLength(2);
    expect(world.held().written).toBeNull();
  });
});
