/** A page of small components, each of which counts its renders and shows what it selects. */

import type { Store } from "atrium/client";
import {
  type Member,
  RoomProvider,
  type StoreEntries,
  useMyPresence,
  useOther,
  useOthers,
  useRoom,
  useSelf,
  useStatus,
  useStore,
  useStoreActions,
  useUpdateMyPresence,
} from "atrium/react";
import { createRoot } from "react-dom/client";

interface Task {
  readonly title: string;
  readonly done?: boolean;
}
type Tasks = StoreEntries<Task>;

export interface RendersStage {
  /** How often each component has rendered. */
  readonly renders: Record<string, number>;
  /** What each component has shown last. */
  readonly shown: Record<string, unknown>;
  move(x: number): void;
  tasks(): Store;
  mount(token: string): void;
}

declare global {
  interface Window {
    renders: RendersStage;
  }
}

function useShown(component: string, value: unknown): null {
  const { renders, shown } = window.renders;
  renders[component] = (renders[component] ?? 0) + 1;
  shown[component] = value;
  return null;
}

const nameOf = ({ user }: Member) => user.name;
const xOf = ({ presence }: Member) => presence?.x;
const keysOf = (tasks: Tasks) => Object.keys(tasks);

const Names = () =>
  useShown(
    "names",
    useOthers((others) => others.map(nameOf)),
  );
const Everyone = () => useShown("everyone", useOthers().map(xOf));
const Rounded = () =>
  useShown(
    "rounded",
    useOthers(
      (others) => others.map(xOf),
      (a, b) => a.length === b.length && a.every((x, index) => Math.abs(Number(x) - Number(b[index])) < 10),
    ),
  );
const Identical = () => useShown("identical", useOthers((others) => others.map(nameOf), Object.is).length);
const Own = () => useShown("own", useSelf(nameOf));
const Mine = () => useShown("mine", useMyPresence<{ x: number }>()[0].x);
const Status = () => useShown("status", useStatus());
const Keys = () => useShown("keys", useStore("tasks", keysOf)[0]);
const All = () => useShown("all", Object.keys(useStore<Task>("tasks")[0]).length);
const Cursor = ({ id }: { readonly id: string }) => useShown("cursor", useOther(id, xOf));
const Cursors = () =>
  useOthers((others) => others.map(({ user }) => user.id)).map((id) => <Cursor key={id} id={id} />);

function Title({ id }: { readonly id: string }) {
  const [title] = useStore("tasks", (tasks: Tasks) => tasks[id]?.title ?? null);
  return useShown(`title ${id}`, title);
}

/** Changes the room without reading it. */
function Writer() {
  const { client } = useRoom();
  const move = useUpdateMyPresence<{ x: number }>();
  useStoreActions<Task>("tasks");
  window.renders.move = (x) => move({ x });
  window.renders.tasks = () => client.store("tasks");
  return useShown("writer", null);
}

/** A controlled input that keeps its caret only if the value is rendered within the event. */
function Field() {
  const [title, { update }] = useStore("tasks", (tasks: Tasks) => tasks.a?.title ?? "");
  return <input value={title} onChange={({ target }) => update("a", { title: target.value })} />;
}

window.renders = {
  // Set by the first render.
  ...({} as Pick<RendersStage, "move" | "tasks">),
  renders: {},
  shown: {},
  mount(token) {
    createRoot(document.body.appendChild(document.createElement("div"))).render(
      <RoomProvider serverUrl={location.origin} authToken={token}>
        <Names />
        <Everyone />
        <Rounded />
        <Identical />
        <Own />
        <Mine />
        <Status />
        <Keys />
        <All />
        <Cursors />
        <Title id="a" />
        <Title id="b" />
        <Writer />
        <Field />
      </RoomProvider>,
    );
  },
};
