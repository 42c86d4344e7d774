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

class Fixture {
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
    const fixture = new Fixture("ann");
    expect(fixture.held()).toBe(fixture.held());
    expect(fixture.held(fixture.open("ann"))).not.toBe(fixture.held());
  });

  test("is a new object once the record was read again", () => {
    const fixture = new Fixture();
    const before = fixture.held();
    fixture.record = { ...recordOf(), authority: [] };
    expect(fixture.held()).not.toBe(before);
    expect(fixture.held().authority).toEqual([]);
  });

  test("is a new object with every pledge", () => {
    const fixture = new Fixture();
    for (const id of ["first", "second"]) {
      const before = fixture.held();
      fixture.session.pledges.push(limit(id));
      expect(fixture.held()).not.toBe(before);
      expect(idsOf(fixture.held())).toContain(id);
    }
  });

  test("is a new object once the user's record changes", () => {
    const fixture = new Fixture("ann");
    fixture.held();
    fixture.user = userRead("user ann", "1");
    const held = fixture.held();
    expect(idsOf(held)).toEqual(["record", "user ann"]);
    fixture.user = userRead("user ann, narrower", "2");
    expect(idsOf(fixture.held())).toEqual(["record", "user ann, narrower"]);
  });

  test("is empty once the record of its user is deleted, with or without delegations, until it is back", () => {
    for (const links of [
      [],
      [{ id: "l_1", parent: "gone", granter: NAME, holder: NAME, specs: [], isClean: true, user: null } as never],
    ]) {
      const fixture = new Fixture("ann");
      fixture.links = links;
      fixture.user = userRead("user ann", "1");
      expect(fixture.held()).toMatchObject({ blocked: null, authority: [expect.anything()] });
      fixture.user = null;
      expect(fixture.held()).toMatchObject({ blocked: { code: "unknown_user" }, authority: [], written: null });
      fixture.user = userRead("user ann", "1");
      expect(idsOf(fixture.held())).toEqual(["record", "user ann"]);
    }
  });

  test("is empty in a workspace that the user's record does not name", () => {
    const fixture = new Fixture("ann");
    fixture.user = userRead("user ann", "1", ["/w"]);
    expect(fixture.held().blocked).toBeNull();
    fixture.user = userRead("user ann", "2", ["/other"]);
    expect(fixture.held()).toMatchObject({ blocked: { code: "unknown_user" }, authority: [] });
  });

  test("acts for the user and for the groups of the user's record", () => {
    const fixture = new Fixture("ann");
    fixture.held();
    expect(fixture.session.principals).toEqual(["user:ann"]);
    fixture.user = userRead("user ann", "1");
    fixture.held();
    expect(fixture.session.principals).toEqual(["user:ann", "group:ops"]);
  });

  test("is empty for a user without a record, and for none, where users are required", () => {
    for (const user of ["ann", null]) {
      const fixture = new Fixture(user);
      expect(fixture.held().blocked).toBeNull();
      fixture.isUserRequired = true;
      expect(fixture.held()).toMatchObject({ blocked: { code: "unknown_user" }, authority: [] });
    }
    const known = new Fixture("ann");
    known.user = userRead("user ann", "1");
    known.isUserRequired = true;
    expect(known.held().blocked).toBeNull();
  });

  test("has nothing of a delegation whose user had a ceiling and has none any more", () => {
    const fixture = new Fixture();
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
    fixture.links = [link];
    expect(fixture.held().authority).toHaveLength(1);
    fixture.links = [{ ...link, isUserLimited: false }];
    expect(fixture.held().authority).toHaveLength(2);
  });

  test("is a new object after a delegation, and after its revocation", () => {
    const fixture = new Fixture();
    const before = fixture.held();
    fixture.links = [
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
    expect(fixture.held()).not.toBe(before);
    expect(fixture.session.isClean).toBe(false);
    fixture.links = [];
    expect(fixture.held()).toBe(before);
  });

  test("of a session with its own grants is a new object once those were read again", () => {
    const fixture = new Fixture();
    fixture.holdings.bring(fixture.session, { text: "{}", account: "a" });
    const before = fixture.held();
    expect(fixture.held()).toBe(before);
    fixture.caveats = recordOf();
    expect(fixture.held()).not.toBe(before);
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
    const fixture = new Fixture("ann");
    fixture.record = waiting();
    fixture.user = userRead("user ann", "1");
    fixture.session.pledges.push(limit("pledge"));
    expect(fixture.held().authority).toEqual([]);
    expect(named(fixture.held().written?.())).toEqual([["written", "user ann", "pledge"]]);
  });

  test("count for what was delegated from them, too", () => {
    const fixture = new Fixture();
    fixture.record = waiting();
    fixture.links = [kept("l_1")];
    expect(fixture.held().authority).toEqual([]);
    expect(named(fixture.held().written?.())).toEqual([["written"], ["written", "l_1"]]);
  });

  test("do not exist where everything counts", () => {
    const fixture = new Fixture();
    expect(fixture.held().written).toBeNull();
    fixture.links = [kept("l_1")];
    expect(fixture.held().authority).toHaveLength(2);
    expect(fixture.held().written).toBeNull();
  });
});
