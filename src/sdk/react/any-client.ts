/** The client types of the hooks: the one that they accept, and the one that they return. */
import type { AtriumClient, ClientTypes } from "../client/index.ts";

/** A client with any declared stores and any types; `store(name)` returns any store. */
export type AnyClient = Omit<AtriumClient<Record<never, never>, ClientTypes>, "stores">;

/** The same with the types that the application has registered. */
export type RoomClient = Omit<AtriumClient, "stores">;

/** The application gives its provider clients of the types that it has registered. */
export const registered = (client: AnyClient): RoomClient => client as unknown as RoomClient;
