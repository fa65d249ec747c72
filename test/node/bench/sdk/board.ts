/** The board that the SDK bench draws on: a room with a store of shapes, and clients in it. */
import { AtriumClient, type Store } from "atrium/client";
import { AtriumServer } from "atrium/server";
import { DEFAULT_RUNTIME, type Runtime } from "../../../../packages/sdk/core/runtime.ts";
import type { SdkSubjects } from "../sdk.ts";

const STORE = "shapes";
export const SHAPES = 10_000;
const POINTS_BYTES = 920;
const BATCH = 500;

export class Board {
  readonly #subjects: SdkSubjects;
  readonly #server: AtriumServer;
  readonly #roomId: string;
  #written = 0;

  private constructor(subjects: SdkSubjects, roomId: string) {
    const { organization, origin } = subjects;
    const { accountId, apiKey } = organization;
    this.#subjects = subjects;
    this.#server = new AtriumServer({ serverUrl: origin, accountId, apiKey });
    this.#roomId = roomId;
  }

  static async create(subjects: SdkSubjects): Promise<Board> {
    return new Board(subjects, await subjects.organization.createRoom("The board"));
  }

  static shapesOf = (client: AtriumClient): Store => client.store(STORE);

  static keyOf = (shape: number): string => `shape:${shape}`;

  /** A shape of about 1 KB, as a whiteboard has them: some fields, and points. */
  static shapeAt = (x: number, y: number): object => ({
    type: "draw",
    x,
    y,
    points: "0123456789".repeat(POINTS_BYTES / 10),
  });

  /** Writes {@link SHAPES} shapes. */
  fill(): Promise<void> {
    return this.change(SHAPES);
  }

  /** Writes the first shapes again, each with a new value. */
  async change(shapes: number): Promise<void> {
    for (let first = 0; first < shapes; first += BATCH) {
      const operations = Array.from({ length: Math.min(BATCH, shapes - first) }, (_, index) => {
        this.#written += 1;
        const [key, value] = [Board.keyOf(first + index), Board.shapeAt(this.#written, index)];
        return { type: "STORE_SET", store: STORE, key, value } as const;
      });
      const requests = [{ requestId: `${this.#written}`, operations }];
      const [response] = await this.#server.stores.batch(this.#roomId, requests);
      if (!response?.success) throw new Error(`Writing shapes failed: ${response?.error?.message}`);
    }
  }

  /** All shapes, over REST. */
  async read(): Promise<object> {
    return (await this.#server.stores.getAll(this.#roomId, STORE)).entries;
  }

  /** The address of the room's socket. */
  get socketUrl(): string {
    const { organization, origin } = this.#subjects;
    return `${origin.replace("http", "ws")}/v1/accounts/${organization.accountId}/rooms/${this.#roomId}/socket`;
  }

  /** The token of a new user. */
  createUser(name: string): Promise<string> {
    return this.#subjects.organization.createUser(name, this.#roomId);
  }

  /** A client that has joined, by another address if the bench has put something in between. */
  async join(
    token: string,
    {
      runtime = DEFAULT_RUNTIME,
      origin = this.#subjects.origin,
    }: { readonly runtime?: Runtime; readonly origin?: string } = {},
  ): Promise<AtriumClient> {
    const client = new AtriumClient({ serverUrl: origin, authToken: token }, runtime);
    await client.join();
    return client;
  }
}
