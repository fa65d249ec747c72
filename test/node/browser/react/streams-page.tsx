/** A page that shows streams in several components, and counts the requests of their reads. */

import { RoomProvider, useRoom } from "atrium/react";
import { type RoomStream, stream } from "atrium/streams";
import { type StreamView, useStream } from "atrium/streams/react";
import { StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";

export interface StreamsStage {
  /** The results of the latest render, by the component's place. */
  readonly views: StreamView[];
  /** Of any component, in the room's client. */
  stream(name: string): RoomStream;
  /** Renders a component for each of these streams, in place of those before. */
  mount(token: string, names: readonly string[]): void;
  unmount(): void;
}

declare global {
  interface Window {
    streams: StreamsStage;
  }
}

function View({ name, place }: { readonly name: string; readonly place: number }) {
  const { client } = useRoom();
  const view = useStream(name);
  window.streams.views[place] = view;
  Object.assign(window.streams, { stream: (other: string) => stream(client, other) });
  return <p>{view.text}</p>;
}

let root: Root | null = null;

window.streams = {
  ...({} as Pick<StreamsStage, "stream">),
  views: [],
  mount(token, names) {
    root ??= createRoot(document.body.appendChild(document.createElement("div")));
    root.render(
      <StrictMode>
        <RoomProvider serverUrl={location.origin} authToken={token}>
          {names.map((name, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same place is the same component
            <View key={place} name={name} place={place} />
          ))}
        </RoomProvider>
      </StrictMode>,
    );
  },
  unmount() {
    root?.unmount();
    root = null;
  },
};
