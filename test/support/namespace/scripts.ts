/** The scripts of the namespace as they are kept: one object of JSON each. */
import { noScript } from "./envelope.ts";
import type { Metadata } from "./metadata.ts";

export interface ScriptModule {
  readonly name: string;
  readonly type: string;
  /** In Base64, whatever it is. */
  readonly content: string;
}

export interface Script {
  readonly name: string;
  readonly metadata: Metadata;
  readonly modules: readonly ScriptModule[];
  readonly createdOn: string;
  readonly modifiedOn: string;
  /** Another one after each change: no isolate of before answers for it. */
  readonly etag: string;
}

export class Scripts {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  async find(name: string): Promise<Script | null> {
    const object = await this.#bucket.get(name);
    return object === null ? null : object.json<Script>();
  }

  async get(name: string): Promise<Script> {
    const script = await this.find(name);
    if (script === null) throw noScript();
    return script;
  }

  async put(script: Omit<Script, "etag" | "modifiedOn">): Promise<Script> {
    const kept = { ...script, modifiedOn: new Date().toISOString(), etag: crypto.randomUUID() };
    await this.#bucket.put(script.name, JSON.stringify(kept));
    return kept;
  }

  async delete(name: string): Promise<void> {
    await this.get(name);
    await this.#bucket.delete(name);
  }

  /** Those that have each tag of `a:yes,b:no` that is to be there, and none that is not. */
  async list(filter: string | null): Promise<Script[]> {
    const { objects } = await this.#bucket.list();
    const scripts = await Promise.all(objects.map(({ key }) => this.get(key)));
    const wanted = (filter ?? "").split(",").filter((tag) => tag !== "");
    return scripts.filter(({ metadata }) =>
      wanted.every((tag) => {
        const [name = "", answer] = tag.split(":");
        return metadata.tags.includes(name) === (answer !== "no");
      }),
    );
  }
}
