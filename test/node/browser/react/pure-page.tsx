/** A page that renders every hook and every component as a server does, says what that has begun, and hydrates the result. */

import type { Comment } from "atrium/client";
import type { Suggestion } from "atrium/documents";
import { useDocument } from "atrium/documents/react";
import type { InboxNotification } from "atrium/inbox";
import * as hooks from "atrium/react";
import * as waiting from "atrium/react/suspense";
import * as components from "atrium/react-ui";
import { useStream } from "atrium/streams/react";
import { createElement, type ElementType, type ReactNode, StrictMode, version } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToReadableStream, renderToString } from "react-dom/server.browser";

/** The data that an application's server gives to its page. */
export interface Given {
  readonly roomId: string;
  /** Of a user of the room. */
  readonly token: string;
  readonly identityToken: string;
  /** Whether the tokens are returned by functions. */
  readonly asks: boolean;
  readonly comment: Comment;
  readonly notification: InboxNotification;
  readonly suggestion: Suggestion;
}

export interface PureStage {
  readonly version: string;
  /** Renders to text and to a stream. Returns the text, and what rendering has begun. */
  render(given: Given): Promise<{ readonly html: string; readonly begun: readonly string[] }>;
  hydrate(given: Given, html: string): void;
  /** Errors from which hydration recovered. */
  readonly recovered: string[];
}

declare global {
  interface Window {
    pure: PureStage;
  }
}

type Named = Readonly<Record<string, unknown>>;

const begun: string[] = [];
/** A resolver, or a token, that rendering must not ask for. */
const asked =
  <Value,>(what: string, value: Value) =>
  (): Value => {
    begun.push(what);
    return value;
  };
const resolveGroup = asked("a group", { name: "Team" });

function argumentsOf(name: string, { comment, suggestion }: Given): readonly unknown[] {
  const all: Record<string, readonly unknown[]> = {
    useBroadcast: ["call", () => {}],
    useDocumentVersions: ["text"],
    useErrorListener: [() => {}],
    useGroupInfo: ["group", resolveGroup],
    useOther: [comment.user_id],
    useStore: ["notes"],
    useStoreActions: ["notes"],
    useSuggestion: [suggestion],
    useSuggestions: ["text"],
    useThreadSubscription: [comment.thread_id],
    useUsers: [[comment.user_id]],
  };
  return all[name] ?? [];
}

function propsOf(name: string, { comment, notification }: Given): object {
  const all: Record<string, object> = {
    AtriumTexts: { texts: {} },
    Comment: { comment, resolveGroup },
    InboxNotification: {
      notification,
      resolvePerson: asked("a person", { name: "Bo" }),
      resolveRoom: asked("a room", "Weekly planning"),
      resolveText: asked("a text", "Hello"),
    },
    Suggestions: { document: "text" },
    Thread: { threadId: comment.thread_id, resolveGroup },
    VersionHistory: { document: "text" },
  };
  return all[name] ?? {};
}

interface UseProps {
  readonly name: string;
  readonly from: Named;
  readonly given: Given;
}

/** Calls one hook. */
function Use({ name, from, given }: UseProps) {
  const useIt = from[name] as (...args: readonly unknown[]) => unknown;
  useIt(...argumentsOf(name, given));
  return <li data-waits={from === waiting}>{name}</li>;
}

function Text() {
  return (
    <>
      <p>{useDocument("text").status}</p>
      <p>{useStream("answer").text}</p>
    </>
  );
}

const named = (from: Named, name: RegExp): string[] => Object.keys(from).filter((each) => name.test(each));
const HOOK = /^use/;
const COMPONENT = /^[A-Z]/;
const listOf = (from: Named, given: Given): ReactNode =>
  named(from, HOOK).map((name) => <Use key={name} name={name} from={from} given={given} />);

const functions = new Map<string, () => string>();
function tokenOf(token: string, { asks }: Given): string | (() => string) {
  if (!asks) return token;
  const ask = functions.get(token) ?? asked("a token", token);
  functions.set(token, ask);
  return ask;
}

const pageOf = (given: Given): ReactNode => (
  <StrictMode>
    <hooks.AtriumProvider serverUrl={location.origin} authToken={tokenOf(given.identityToken, given)}>
      <hooks.RoomProvider
        serverUrl={location.origin}
        authToken={tokenOf(given.token, given)}
        initialPresence={{ x: 1 }}
      >
        <ul>
          {listOf(hooks, given)}
          {listOf(components, given)}
        </ul>
        {named(components, COMPONENT).map((name) =>
          createElement((components as Named)[name] as ElementType, {
            key: name,
            ...propsOf(name, given),
          }),
        )}
        <Text />
        <waiting.ClientSideSuspense fallback={<i>Loading</i>}>
          <ul>{listOf(waiting, given)}</ul>
        </waiting.ClientSideSuspense>
      </hooks.RoomProvider>
      <hooks.RoomProvider roomId={given.roomId}>
        <Use name="useSelf" from={hooks} given={given} />
      </hooks.RoomProvider>
    </hooks.AtriumProvider>
  </StrictMode>
);

/** Notes calls of these functions, until the returned function is called. */
function watchActs(): () => void {
  const originals = {
    WebSocket,
    fetch,
    setTimeout,
    addEventListener,
    requestAnimationFrame,
    BroadcastChannel,
  };
  const intervals = new Set<number>();
  const { setInterval, clearInterval } = window;
  for (const [name, original] of Object.entries(originals)) {
    const noted = function (this: unknown, ...args: unknown[]) {
      begun.push(name);
      return new.target ? Reflect.construct(original, args) : Reflect.apply(original, this ?? window, args);
    };
    Object.assign(window, { [name]: noted });
  }
  Object.assign(window, {
    setInterval: (...args: Parameters<typeof setInterval>) => {
      const interval = Number(setInterval(...args));
      intervals.add(interval);
      return interval;
    },
    clearInterval: (interval: number) => {
      intervals.delete(interval);
      clearInterval(interval);
    },
  });
  return () => {
    Object.assign(window, originals, { setInterval, clearInterval });
    for (const interval of intervals) begun.push(`the interval ${interval}`);
  };
}

const recovered: string[] = [];

window.pure = {
  version,
  recovered,
  async render(given) {
    const stop = watchActs();
    const html = renderToString(pageOf(given));
    // Work that rendering leaves behind would begin in these turns.
    for (let turn = 0; turn < 20; turn += 1) await null;
    stop();
    const stream = await renderToReadableStream(pageOf(given), {
      onError: (error) => void begun.push(String(error)),
    });
    await stream.allReady;
    await new Response(stream).text();
    return { html, begun: begun.splice(0) };
  },
  hydrate(given, html) {
    const container = document.body.appendChild(document.createElement("div"));
    container.innerHTML = html;
    hydrateRoot(container, pageOf(given), { onRecoverableError: (error) => recovered.push(String(error)) });
  },
};
