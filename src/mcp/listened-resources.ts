// Watched resources of clients of the newer era, which name them in `subscriptions/listen`. Each is watched by a decided call for as long
// as a request that names it is open; the library acknowledges those that are, and sends their changes.
import { objectIn } from "../core/base/fields.ts";
import { isJsonList, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { ReconnectingSession } from "./reconnecting-session.ts";
import { ServedResources, watchesMax } from "./served-resources.ts";

export const LISTEN = "subscriptions/listen";
/** As many as the library serves. */
const listensMax = 1_024;

export interface ListenedResourcesOptions {
  /** Changes after it resolves are reported. */
  follow(): Promise<void>;
  /** Tells every open request that names the resource. */
  changed(uri: string): void;
}

export class ListenedResources {
  readonly #resources: ServedResources;
  readonly #options: ListenedResourcesOptions;
  /** Open requests, and what each watches. */
  readonly #open = new Map<unknown, Set<string>>();

  constructor(session: ReconnectingSession, options: ListenedResourcesOptions) {
    this.#resources = new ServedResources(session);
    this.#options = options;
  }

  /** The same request with those resources alone that are watched now; null where it was closed meanwhile. */
  async open(key: unknown, message: JsonObject): Promise<JsonObject | null> {
    const params = objectIn(message, "params") ?? {};
    const notifications = objectIn(params, "notifications") ?? {};
    const wanted = member(notifications, "resourceSubscriptions");
    // What is malformed is for the library to refuse.
    const uris = isJsonList(wanted) && wanted.every((uri): uri is string => typeof uri === "string") ? wanted : [];
    this.close(key);
    const watched = new Set<string>();
    const tried = this.#open.size > listensMax ? [] : [...new Set(uris)].slice(0, watchesMax);
    this.#open.set(key, watched);
    await this.#options.follow();
    if (this.#open.get(key) !== watched) return null;
    for (const uri of tried) {
      const isWatched = await this.#resources
        .watch(uri, (one) => this.#options.changed(one))
        .then(
          () => true,
          () => false,
        );
      if (isWatched) watched.add(uri);
      if (this.#open.get(key) === watched) continue;
      this.#release(watched);
      return null;
    }
    if (uris.length === 0) return message;
    const { resourceSubscriptions: _, ...rest } = notifications;
    const kept: Json = watched.size === 0 ? rest : { ...rest, resourceSubscriptions: [...watched] };
    return { ...message, params: { ...params, notifications: kept } };
  }

  close(key: unknown): void {
    const watched = this.#open.get(key);
    this.#open.delete(key);
    if (watched !== undefined) this.#release(watched);
  }

  closeAll(): void {
    this.#open.clear();
    this.#resources.close();
  }

  #release(watched: ReadonlySet<string>): void {
    for (const uri of watched)
      if (![...this.#open.values()].some((others) => others.has(uri))) this.#resources.unwatch(uri);
  }
}
