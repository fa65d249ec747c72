/** Calls of Durable Objects: stubs with the types of their classes, and failures that pass. */

import { readSetting, type Settings } from "../settings.ts";

/** Members that no Worker calls: the platform calls them, or tests replace them. */
type Internal = "alarm" | "clock" | "fetch" | "webSocketMessage" | "webSocketClose" | "webSocketError";

export type Stub<ObjectClass> = {
  readonly [Name in Exclude<keyof ObjectClass, Internal> as ObjectClass[Name] extends (
    ...args: never[]
  ) => unknown
    ? Name
    : never]: ObjectClass[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/**
 * Opens an object where the deployment keeps its data: the first call creates it there, and none moves it. A name stands
 * for another object in each jurisdiction.
 */
export function openObject(
  settings: Settings,
  objects: DurableObjectNamespace,
  name: string,
): DurableObjectStub {
  const jurisdiction = readSetting(settings, "JURISDICTION");
  if (jurisdiction !== undefined) return objects.jurisdiction(jurisdiction).getByName(name);
  const locationHint = readSetting(settings, "LOCATION");
  return objects.getByName(name, locationHint && { locationHint });
}

/** Opens an object for one call: a stub breaks with its object. The namespace does not know the class. */
export const openStub = <ObjectClass>(
  settings: Settings,
  objects: DurableObjectNamespace,
  name: string,
): Stub<ObjectClass> => openObject(settings, objects, name) as unknown as Stub<ObjectClass>;

const BEING_RESTORED = "This object is being restored from an archive";

const BEING_ARCHIVED = "This object is being read by a later backup";

export const beingArchived = (): Error => new Error(BEING_ARCHIVED);

export const beingRestored = (): Error => new Error(BEING_RESTORED);

/** Reasons by message: errors lose their class on the way to the caller. */
const REASONS: readonly (readonly [message: string, reason: string])[] = [
  // The object still runs the version before, for some minutes at most.
  ["RPC receiver does not implement", "The service is being updated; wait and retry"],
  [
    "account's spending cap",
    "The service has reached the spending cap of its account; wait until it is raised",
  ],
  [BEING_ARCHIVED, "Another backup is reading this; wait and retry"],
  [BEING_RESTORED, "This is being restored from a backup; wait and retry"],
];

/** The reason of a failure that passes, for the customer; null for any other error. */
export function passingReason(error: unknown): string | null {
  const message = error instanceof Error ? error.message : "";
  return REASONS.find(([part]) => message.includes(part))?.[1] ?? null;
}
