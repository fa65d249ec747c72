/** Finds the modules of `src` that run during a warm request: those of which a function ran each time. */
import { parse } from "@babel/parser";
import { Organization } from "../bench/organization.ts";
import { serving } from "../bench/serve.ts";
import { bearerOf } from "../cli/service.ts";
import { Customer, type RoomTab } from "../stories/client.ts";
import { Receiver } from "../stories/receiver.ts";

export interface Path {
  readonly name: string;
  /** Modules below `src`, without the primitives of `platform/`. */
  readonly modules: readonly string[];
}

/** The first requests open things that an isolate opens once. */
const [WARM_UP, TIMES] = [3, 4];
const LIMIT_MS = 180_000;
const MODULE = /^\/\/ (\S+)$/gm;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly body?: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

/** The bodies of all functions in a tree. */
function bodiesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(bodiesOf);
  if (!isNode(value)) return [];
  const inner = Object.values(value).flatMap(bodiesOf);
  const isFunction = /Function|^ClassMethod$|^ClassPrivateMethod$|^ObjectMethod$/.test(value.type);
  return isFunction && isNode(value.body) ? [value.body, ...inner] : inner;
}

/** Records the bundled modules: each function of one adds its number to `ranModules`. */
class Recorder {
  readonly #modules: string[] = [];

  readonly rewrite = (script: string): string => {
    const starts = [...script.matchAll(MODULE)].map(({ 1: name = "", index }) => ({ name, index }));
    const edits: { readonly at: number; readonly text: string }[] = [];
    for (const body of bodiesOf(parse(script, { sourceType: "module" }).program)) {
      const module = starts.findLastIndex(({ index }) => index < body.start);
      const added = `ranModules.add(${module})`;
      if (body.type === "BlockStatement") edits.push({ at: body.start + 1, text: `${added};` });
      else edits.push({ at: body.start, text: `(${added}, ` }, { at: body.end, text: ")" });
    }
    this.#modules.push(...starts.map(({ name }) => name));
    edits.sort((one, other) => one.at - other.at);
    const pieces = edits.map(({ at, text }, index) => text + script.slice(at, edits[index + 1]?.at));
    return `globalThis.ranModules = new Set();${script.slice(0, edits[0]?.at)}${pieces.join("")}`;
  };

  /** The names of the modules with these numbers that count. */
  namesOf(numbers: readonly number[]): string[] {
    const names = numbers.map((number) => this.#modules[number] ?? "");
    return names.flatMap((name) => (/^src\/(?!platform\/)/.test(name) ? [name.slice("src/".length)] : []));
  }
}

const answerOf = ({ socket }: RoomTab): Promise<void> =>
  new Promise((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      if (String(data).includes('"type":"response"')) resolve();
    });
  });

/** Plays the measured requests, in one organization of one isolate. */
class Played {
  readonly #customer: Customer;
  readonly #recorder: Recorder;

  constructor(customer: Customer, recorder: Recorder) {
    this.#customer = customer;
    this.#recorder = recorder;
  }

  async measure(name: string, play: () => Promise<unknown>): Promise<Path> {
    for (let time = 0; time < WARM_UP; time += 1) await play();
    let modules: string[] | null = null;
    for (let time = 0; time < TIMES; time += 1) {
      await this.#takeRan();
      await play();
      const ran = new Set(await this.#takeRan());
      modules = modules === null ? [...ran] : modules.filter((module) => ran.has(module));
    }
    return { name, modules: (modules ?? []).sort() };
  }

  /** The modules that have run since this was last called. */
  async #takeRan(): Promise<string[]> {
    const response = await fetch(`${this.#customer.service.url}/ran`);
    return this.#recorder.namesOf((await response.json()) as number[]);
  }

  async measureAll(receiver: Receiver): Promise<readonly Path[]> {
    const customer = this.#customer;
    const creation = await this.measure("POST /rooms", customer.createRoom);
    const room = await customer.createRoom();
    const users = await Promise.all(
      Array.from({ length: 1 + WARM_UP + TIMES }, () => customer.createUser(room.id)),
    );
    const next = () => {
      const user = users.pop();
      if (user === undefined) throw new Error("Every user has joined");
      return user;
    };
    const tab = await customer.join(next());
    const write = await this.measure("STORE_SET", async () => {
      const answered = answerOf(tab);
      tab.send("STORE_SET", { store: "tasks", key: "first", value: 1 });
      await answered;
    });
    await customer.send("POST", "/webhooks", { url: receiver.url, events: ["participant.joined"] });
    const join = await this.measure("a join up to its webhook", async () => {
      const arrived = new Promise((resolve) => {
        receiver.onArrival = resolve;
      });
      await customer.join(next());
      await arrived;
    });
    const workflow = { name: "W", code: "export default () => 1;", events: ["room.deleted"] };
    const { data } = await customer.send<{ workflow: { id: string } }>("POST", "/workflows", workflow);
    const body = { event: "session.started", data: { roomId: room.id } };
    const run = await this.measure("a run of a workflow", () =>
      customer.send("POST", `/workflows/${data.workflow.id}/run`, body),
    );
    return [creation, write, join, run];
  }
}

/** The paths, recorded on a Worker that is bundled for it. */
export function measurePaths(): Promise<readonly Path[]> {
  const recorder = new Recorder();
  return serving(
    ["recorded-atrium"],
    AbortSignal.timeout(LIMIT_MS),
    async ({ origin, db }) => {
      const url = origin("recorded-atrium");
      const { accountId, apiKey } = await Organization.create(db, url);
      const customer = new Customer({ url }, { accountId, apiKey, bearer: bearerOf(accountId, apiKey) });
      const receiver = await Receiver.start();
      try {
        return await new Played(customer, recorder).measureAll(receiver);
      } finally {
        await receiver.stop();
      }
    },
    false,
    recorder.rewrite,
  );
}
