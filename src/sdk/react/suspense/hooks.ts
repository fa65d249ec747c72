/** The hooks that read a room, for components that wait for it: each suspends until what it returns was loaded. */
import type { Role, Room } from "../../client/index.ts";
import type { RoomClient } from "../any-client.ts";
import { useComments as useCommentsNow } from "../comments.ts";
import type { Equality } from "../equality.ts";
import type { Member } from "../members.ts";
import type { Readiness } from "../readiness.ts";
import { useRoom as useRoomNow } from "../room.ts";
import type { RoomHandle } from "../room-handle.ts";
import { useSelf as useSelfNow } from "../self.ts";
import { useStore as useStoreNow } from "../store.ts";
import { useOther as useOtherNow, useOthers as useOthersNow } from "../users.ts";
import { useJoinedRoom } from "./joined.ts";

/** The room, your role in it, and the client, for everything without a hook. */
export interface JoinedRoom {
  readonly client: RoomClient;
  readonly room: Room;
  readonly role: Role;
}

interface UseSelf {
  (): Member;
  <Selected>(select: (self: Member) => Selected, isEqual?: Equality<Selected>): Selected;
}

/**
 * The hook, in a component that waits for its room and for what `loaded` finds by the hook's first argument. `Waiting`
 * is the hook's type without the values that it returns before.
 */
function waiting<Waiting>(
  useNow: (...args: never[]) => unknown,
  loaded: (handle: RoomHandle, name: string | undefined) => Readiness | null = () => null,
): Waiting {
  const useWhenLoaded = (...args: never[]): unknown => {
    loaded(useJoinedRoom(), args[0])?.require();
    return useNow(...args);
  };
  return useWhenLoaded as Waiting;
}

export const useSelf = /* @__PURE__ */ waiting<UseSelf>(useSelfNow);
export const useOthers = /* @__PURE__ */ waiting<typeof useOthersNow>(useOthersNow);
export const useOther = /* @__PURE__ */ waiting<typeof useOtherNow>(useOtherNow);
export const useRoom = /* @__PURE__ */ waiting<() => JoinedRoom>(useRoomNow);
export const useStore = /* @__PURE__ */ waiting<typeof useStoreNow>(
  useStoreNow,
  (handle, name = "") => handle.store(name).loaded,
);
export const useComments = /* @__PURE__ */ waiting<typeof useCommentsNow>(
  useCommentsNow,
  (handle, threadId) => handle.comments(threadId).loaded,
);
