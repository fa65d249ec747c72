/** A way to a service on which a request can be held, so that tests act while a command waits for it. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that will be held. */
export interface Held {
  /** Resolves when it is there. */
  readonly reached: Promise<void>;
  /** Lets it pass. */
  release(): void;
}

interface Hold extends Held {
  readonly path: string;
  reach(): void;
  drop(): void;
  /** Whether it passes. */
  readonly passes: Promise<boolean>;
}

/** Headers of a response that are passed on; the others belong to a connection. */
const PASSED = ["content-type", "retry-after", "atrium-signature", "atrium-file-size"];

export class RequestGate {
  readonly #server: Server;
  readonly #target: () => string;
  #holds: readonly Hold[] = [];
  #held: readonly Hold[] = [];
  readonly #passing = new Set<Promise<unknown>>();

  private constructor(target: () => string) {
    this.#target = target;
    // A command that is killed breaks its requests off, and has no use for the answers.
    this.#server = createServer((request, response) => {
      const passing: Promise<unknown> = this.#pass(request, response)
        .catch(() => response.destroy())
        .finally(() => this.#passing.delete(passing));
      this.#passing.add(passing);
    });
  }

  /** Opens a gate in front of the service at this address. */
  static async before(target: () => string): Promise<RequestGate> {
    const gate = new RequestGate(target);
    gate.#server.listen(0, "127.0.0.1");
    await once(gate.#server, "listening");
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Holds the next request to a path that begins so. */
  hold(path: string): Held {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
    const hold: Hold = {
      path,
      reached: reached.promise,
      reach: reached.resolve,
      passes: released.promise,
      release: () => released.resolve(true),
      drop: () => released.resolve(false),
    };
    this.#holds = [...this.#holds, hold];
    return hold;
  }

  /** Once the client was killed: the service never gets what is held. Resolves when it has answered the rest. */
  async cut(): Promise<void> {
    this.#server.closeAllConnections();
    for (const held of this.#held) held.drop();
    await Promise.all(this.#passing);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? "";
    if (!(await this.#passes(path))) {
      response.destroy();
      return;
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === "string" && !/^(host|connection|content-length|transfer-encoding)$/.test(name))
        headers.set(name, value);
    const init = { method: "POST", headers, body: Buffer.concat(chunks) };
    const answer = await fetch(this.#target() + path, init);
    for (const name of PASSED) {
      const value = answer.headers.get(name);
      if (value !== null) response.setHeader(name, value);
    }
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  }

  /** Waits while the request is held. */
  async #passes(path: string): Promise<boolean> {
    const hold = this.#holds.find((held) => path.startsWith(held.path));
    if (hold === undefined) return true;
    this.#holds = this.#holds.filter((other) => other !== hold);
    this.#held = [...this.#held, hold];
    hold.reach();
    return hold.passes;
  }
}
