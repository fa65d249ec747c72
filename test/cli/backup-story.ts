/** An organization that is backed up and deleted by the commands, and brought back once it is gone; part of the commands' tests. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import * as Y from "yjs";
import { query } from "./database.ts";
import { type Finished, runCli } from "./processes.ts";
import type { Organization, Service } from "./service.ts";

/** Where something of everything is. */
interface Furnished extends Organization {
  readonly roomId: string;
  readonly fileKey: string;
}

export class BackupStory {
  readonly #service: () => Service;
  readonly #create: () => Promise<Organization>;
  #folder = "";
  #before: unknown = null;
  #furnished: Furnished | null = null;

  constructor(service: () => Service, create: () => Promise<Organization>) {
    this.#service = service;
    this.#create = create;
  }

  /** Backs it up twice, of which only the first does anything, and deletes it. */
  async backUp(): Promise<void> {
    this.#folder = path.join(await mkdtemp(path.join(tmpdir(), "atrium-backup-")), "acme");
    const organization = await this.#create();
    this.#furnished = await this.#furnish(organization);
    this.#before = await this.#answers();
    const { accountId, apiKey } = organization;
    const first = await this.#run("backup", accountId, this.#folder);
    expect([first.exitCode, JSON.parse(first.stdout)]).toEqual([0, expect.objectContaining({ files: 1 })]);
    const second = await this.#run("backup", accountId, this.#folder);
    expect([second.exitCode, second.stderr]).toEqual([
      1,
      expect.stringContaining("is a complete backup already"),
    ]);
    for (const file of await readdir(this.#folder))
      if (file !== "files")
        expect(await readFile(path.join(this.#folder, file), "utf8")).not.toContain(apiKey);
    const tooEarly = await this.#run("restore", this.#folder);
    expect([tooEarly.exitCode, tooEarly.stderr]).toEqual([
      1,
      expect.stringContaining("The organization exists"),
    ]);
    const notBegun = await this.#run("restore", accountId, "--cancel");
    expect([notBegun.exitCode, notBegun.stderr]).toEqual([
      1,
      "No restore of this organization is under way.\n",
    ]);
    expect((await this.#send("DELETE", "/organization", { confirm: "Tested" })).status).toBe(200);
    // As if that had been a minute ago: the cron trigger removes the rest.
    query(this.#service().persistTo, `UPDATE accounts SET deleted_at = 1 WHERE id = '${accountId}'`);
  }

  /** Restores it, which waits until it is gone, and compares. */
  async restore(): Promise<void> {
    const { exitCode, stderr } = await this.#run("restore", this.#folder);
    expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
    expect(await this.#answers()).toEqual(this.#before);
    const { data } = await this.#send<{ entries: { operation: string }[] }>("GET", "/audit");
    expect(data.entries[0]).toMatchObject({ operation: "restoreOrganization", actor: { type: "operator" } });
    const tokens = query(
      this.#service().persistTo,
      "SELECT * FROM operator_tokens WHERE purpose = 'restore'",
    );
    expect(tokens).toEqual([]);
    await rm(path.dirname(this.#folder), { recursive: true });
  }

  #run(...args: string[]): Promise<Finished> {
    const { persistTo, url } = this.#service();
    return runCli("account.ts", [...args, "--url", url, "--persist-to", persistTo, "--json"]);
  }

  get #acme(): Furnished {
    if (this.#furnished === null) throw new Error("The organization was not made");
    return this.#furnished;
  }

  async #furnish(organization: Organization): Promise<Furnished> {
    this.#furnished = { ...organization, roomId: "", fileKey: "" };
    type Created = { room: { id: string }; user: { id: string }; file: { key: string } };
    const make = async (method: string, to: string, body: object) => {
      const { status, data } = await this.#send<Created>(method, to, body);
      expect([to, status < 300]).toEqual([to, true]);
      return data;
    };
    const { id: roomId } = (await make("POST", "/rooms", { name: "Kitchen" })).room;
    const user = (await make("POST", "/users", { name: "Ada", roomId })).user;
    await make("PUT", `/rooms/${roomId}/stores/pages/a`, { value: { text: "Hello" } });
    await make("POST", `/rooms/${roomId}/comments`, { userId: user.id, text: "First" });
    const document = new Y.Doc();
    document.getText("body").insert(0, "Hello");
    const update = Buffer.from(Y.encodeStateAsUpdate(document)).toString("base64");
    await make("PUT", `/rooms/${roomId}/documents/minutes`, { update });
    await make("POST", "/webhooks", {
      url: "https://hooks.example.com",
      events: ["user.created"],
      enabled: false,
    });
    await make("POST", "/workflows", {
      name: "W",
      code: "export default () => 1;",
      events: ["user.updated"],
    });
    const form = new FormData();
    form.append("roomId", roomId);
    form.append("userId", user.id);
    form.append("file", new File(["Hello"], "hello.txt"));
    const { file } = await make("POST", "/upload", form);
    return { ...organization, roomId, fileKey: file.key };
  }

  /** What the API answers. When a key was last used, and how many events have been, changes meanwhile. */
  async #answers(): Promise<unknown> {
    const { fileKey, roomId } = this.#acme;
    const room = `/rooms/${roomId}`;
    const inRoom = ["stores", "stores/pages", "comments", "documents", "documents/minutes"];
    const lists = [`/users?roomId=${roomId}`, `/files?roomId=${roomId}`, "/rooms", "/webhooks", "/workflows"];
    const paths = ["/organization", "/quotas", ...lists, room, ...inRoom.map((list) => `${room}/${list}`)];
    const answers = await Promise.all(paths.map(async (to) => [to, (await this.#send("GET", to)).data]));
    const { data } = await this.#send<{ events: { id: string }[] }>("GET", "/events");
    const file = await this.#fetch("GET", `/storage/${fileKey}`);
    return [...answers, data.events.map(({ id }) => id), await file.text()];
  }

  #fetch(method: string, to: string, body?: object): Promise<Response> {
    const { accountId, bearer } = this.#acme;
    const isForm = body === undefined || body instanceof FormData;
    return fetch(`${this.#service().url}/v1/accounts/${accountId}${to}`, {
      method,
      headers: { Authorization: `Bearer ${bearer}`, ...(!isForm && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
  }

  async #send<Data = object>(method: string, to: string, body?: object) {
    const response = await this.#fetch(method, to, body);
    return { status: response.status, data: ((await response.json()) as { data: Data }).data };
  }
}
