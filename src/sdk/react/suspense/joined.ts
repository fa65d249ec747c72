/** How components wait for their room: they suspend until it was joined. */
import { createElement, type ReactNode, Suspense, useSyncExternalStore } from "react";
import { invalid } from "../../core/error.ts";
import { useRoomHandle } from "../context.ts";
import type { RoomHandle } from "../room-handle.ts";

const never = () => () => {};
const yes = () => true;
const no = () => false;

function refuse(): never {
  throw invalid(
    "Client",
    "A component that waits for its room renders in browsers only: wrap it in <ClientSideSuspense>",
  );
}

/** The room of the nearest RoomProvider: suspends until it was joined, and throws the error of a join that failed. */
export function useJoinedRoom(): RoomHandle {
  const handle = useRoomHandle();
  // React renders the fallback of the nearest boundary for a component that throws on the server.
  useSyncExternalStore(never, yes, refuse);
  handle.connection.joined.require();
  return handle;
}

export interface ClientSideSuspenseProps {
  readonly fallback: ReactNode;
  readonly children?: ReactNode;
}

/** `Suspense` for components that render in browsers only: the server renders the fallback. */
export function ClientSideSuspense({ fallback, children }: ClientSideSuspenseProps): ReactNode {
  const isInBrowser = useSyncExternalStore(never, yes, no);
  // Without a boundary before that: React 18 would report an update of one that it has yet to hydrate.
  return isInBrowser ? createElement(Suspense, { fallback }, children) : fallback;
}
