/** Measures a Worker's heap after garbage collection, through workerd's inspector. */
import { once } from "node:events";
import { CommandError } from "../../../src/cli/process/command.ts";

/** An isolate, as the inspector lists it. */
interface Target {
  readonly id: string;
}

interface Answer<Result> {
  readonly id?: number;
  readonly result: Result;
}

/** How the ids of our Workers begin; the others are the emulated platform's. */
const OWN = "core:user:";

export class Inspector {
  /** Address of the inspector's WebSockets, without a path. */
  readonly #url: URL;

  constructor(url: URL) {
    this.#url = url;
  }

  /**
   * Collects the garbage of the Workers, and returns the remaining bytes on their heaps. `wake` makes each of
   * them run: an isolate at rest does not collect.
   */
  async collect(wake: () => Promise<void>): Promise<number> {
    const list = new URL("/json", this.#url);
    list.protocol = "http:";
    const targets = (await (await fetch(list)).json()) as Target[];
    const own = targets.filter(({ id }) => id.startsWith(OWN));
    const sizes = await Promise.all(own.map(({ id }) => this.#collect(id, wake)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async #collect(id: string, wake: () => Promise<void>): Promise<number> {
    const session = new WebSocket(new URL(`/${id}`, this.#url));
    await once(session, "open");
    try {
      await Promise.all([call(session, 1, "HeapProfiler.collectGarbage"), wake()]);
      return (await call<{ readonly usedSize: number }>(session, 2, "Runtime.getHeapUsage")).usedSize;
    } finally {
      session.close();
    }
  }
}

function call<Result>(session: WebSocket, id: number, method: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    session.addEventListener("message", ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer<Result>;
      if (answer.id === id) resolve(answer.result);
    });
    session.addEventListener("close", () => reject(new CommandError(`workerd did not answer ${method}`)));
    session.send(JSON.stringify({ id, method }));
  });
}
