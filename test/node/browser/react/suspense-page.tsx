/** A page whose components suspend until their room is joined and loaded. */

import {
  ClientSideSuspense,
  type JoinedRoom,
  RoomProvider,
  type StoreEntries,
  useComments,
  useMyPresence,
  useOthers,
  useRoom,
  useSelf,
  useStatus,
  useStore,
} from "atrium/react/suspense";
import { Component, createElement, type ReactNode, StrictMode, Suspense } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server.browser";

/** What one render of the content has read. */
interface Read {
  readonly name: string;
  readonly room: string;
  readonly role: string;
  readonly others: readonly string[];
  readonly tasks: readonly string[];
  readonly comments: number;
  readonly status: string;
}

/** Where the boundary is: it must not matter. */
type Place = "above the provider" | "below the provider";

export interface SuspenseStage {
  /** The content's renders. */
  readonly read: Read[];
  /** How often the fallback was rendered. */
  waits: number;
  mount(token: string, place: Place): void;
  /** Renders on the "server", in the browser only with the SDK's own boundary, and hydrates the result. Returns the HTML. */
  hydrate(token: string, boundary: "own" | "React's"): string;
}

declare global {
  interface Window {
    suspense: SuspenseStage;
  }
}

const keysOf = (tasks: StoreEntries<unknown>) => Object.keys(tasks).sort();

function Content() {
  const { room, role }: JoinedRoom = useRoom();
  const [presence] = useMyPresence();
  const read: Read = {
    name: useSelf(({ user }) => user.name),
    room: room.id,
    role,
    others: useOthers((others) => others.map(({ user }) => user.name)),
    tasks: useStore("tasks", keysOf)[0],
    comments: useComments()[0].length,
    status: useStatus(),
  };
  window.suspense.read.push(read);
  return <p data-presence={JSON.stringify(presence)}>{read.name} is here</p>;
}

/** Shows the error of the content, and a button that renders it again. */
class RetryBoundary extends Component<{ readonly children: ReactNode }> {
  override state: { readonly error: { readonly code?: string } | null } = { error: null };
  static getDerivedStateFromError = (error: object) => ({ error });
  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <button type="button" onClick={() => this.setState({ error: null })}>
        {error.code ?? String(error)}
      </button>
    );
  }
}

function Fallback() {
  window.suspense.waits += 1;
  return <i>Loading</i>;
}
const FALLBACK = <Fallback />;

/** Wraps the outermost element in the last of these, and so on. */
const nest = (content: ReactNode, ...around: readonly ((children: ReactNode) => ReactNode)[]): ReactNode =>
  around.reduce((children, wrap) => wrap(children), content);

const inRoom = (token: string) => (children: ReactNode) => (
  <RoomProvider serverUrl={location.origin} authToken={token}>
    {children}
  </RoomProvider>
);
const inSuspense = (children: ReactNode) => <Suspense fallback={FALLBACK}>{children}</Suspense>;
const inOwnSuspense = (children: ReactNode) => (
  <ClientSideSuspense fallback={FALLBACK}>{children}</ClientSideSuspense>
);
const inCatch = (children: ReactNode) => <RetryBoundary>{children}</RetryBoundary>;
const strictly = (children: ReactNode) => <StrictMode>{children}</StrictMode>;

const makeContainer = (html = ""): HTMLElement => {
  const container = document.body.appendChild(document.createElement("div"));
  container.innerHTML = html;
  return container;
};

window.suspense = {
  read: [],
  waits: 0,
  mount(token, place) {
    const layers =
      place === "above the provider"
        ? [inRoom(token), inSuspense, inCatch, strictly]
        : [inSuspense, inCatch, inRoom(token), strictly];
    createRoot(makeContainer()).render(nest(createElement(Content), ...layers));
  },
  hydrate(token, boundary) {
    const inBoundary = boundary === "own" ? inOwnSuspense : inSuspense;
    const app = nest(createElement(Content), inBoundary, inRoom(token), strictly);
    const html = renderToString(app);
    hydrateRoot(makeContainer(html), app);
    return html;
  },
};
