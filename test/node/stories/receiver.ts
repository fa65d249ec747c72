/** A webhook receiver on this machine: keeps the requests in the order of their arrival. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Event } from "@atrium/contract/resources/events.ts";

/** One received request, answered or not. */
export interface Arrival {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly event: Event;
}

export class Receiver {
  readonly arrivals: Arrival[] = [];
  /** Called with each arrival; its response waits for the result, which is its status if it is a number. */
  onArrival: (arrival: Arrival) => unknown = () => undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const headers = request.headers as Record<string, string>;
      const arrival = { headers, body, event: JSON.parse(body) as Event };
      receiver.arrivals.push(arrival);
      const result = await receiver.onArrival(arrival);
      response.statusCode = typeof result === "number" ? result : 200;
      response.end();
    });
    const receiver = new Receiver(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The events in the order of their first arrival. */
  get events(): Event[] {
    const seen = new Set<string>();
    return this.arrivals.flatMap(({ event }) => (seen.size < seen.add(event.id).size ? [event] : []));
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
