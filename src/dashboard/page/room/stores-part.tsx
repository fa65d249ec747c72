/** The stores of a room: one at a time, as a table that updates live. */
import { Link, useLocation } from "wouter";
import { pathPartOf } from "../data/path-name.ts";
import { useAddress } from "../data/use-address.ts";
import { JoinBar } from "../live/join-bar.tsx";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { EntryTable } from "./entry-table.tsx";
import { NewStore } from "./new-store.tsx";
import { useStores } from "./use-stores.ts";

export interface StoresPartProps {
  readonly roomId: string;
  readonly chosen: string | undefined;
}

export function StoresPart({ roomId, chosen }: StoresPartProps) {
  const address = useAddress();
  const [, go] = useLocation();
  const { data, error, refetch } = useStores(roomId);
  const addressOf = (store: string) => address(`/rooms/${roomId}/stores/${pathPartOf(store)}`);
  const shown = chosen ?? data?.[0]?.name;
  if (data === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  const total = data.find(({ name }) => name === shown)?.entries;
  return (
    <section>
      <JoinBar />
      <div className="filters">
        <nav className="chips" aria-label="Stores">
          {data.map(({ name, entries }) => (
            <Link key={name} href={addressOf(name)} aria-current={name === shown ? "page" : undefined}>
              {name} <span className="soft">{entries}</span>
            </Link>
          ))}
        </nav>
        <NewStore onChosen={(name) => go(addressOf(name))} />
      </div>
      {shown === undefined ? <NoStores /> : <EntryTable key={shown} {...{ roomId, total }} store={shown} />}
    </section>
  );
}

const NoStores = () => (
  <Empty title="No stores yet">
    <p>A store is a map of JSON values that everyone in the room shares. Its first entry creates it:</p>
    <p>
      <code>client.store("tasks").set("milk", {'{ title: "Buy milk" }'})</code>
    </p>
  </Empty>
);
