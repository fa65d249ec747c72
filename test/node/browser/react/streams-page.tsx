/** A page that shows streams in several components, and counts the requests of their reads. */

import { AtriumProvider, RoomProvider, useRoom } from "atrium/react";
import { type RoomStream, stream } from "atrium/streams";
import { type StreamView, useStream } from "atrium/streams/react";
import { StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";

export interface StreamsStage {
  /** The results of the latest render, by the component's place. */
  readonly views: StreamView[];
  /** Of any component, in the room's client. */
  stream(name: string): RoomStream;
  /** Renders a component for each of these streams, in place of those before. With a custom ID, the token is an identity's. */
  mount(token: string, names: readonly string[], customId?: string): void;
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
  mount(token, names, customId) {
    root ??= createRoot(document.body.appendChild(document.createElement("div")));
    const views = names.map((name, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the same place is the same component
      <View key={place} name={name} place={place} />
    ));
    const serverUrl = location.origin;
    root.render(
      <StrictMode>
        {customId === undefined ? (
          <RoomProvider serverUrl={serverUrl} authToken={token}>
            {views}
          </RoomProvider>
        ) : (
          <AtriumProvider serverUrl={serverUrl} authToken={token}>
            <RoomProvider customId={customId}>{views}</RoomProvider>
          </AtriumProvider>
        )}
      </StrictMode>,
    );
  },
  unmount() {
    root?.unmount();
    root = null;
  },
};
