/** The names of those who write in documents. */
import { useQuery } from "@tanstack/react-query";
import type { DocumentAuthor } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useNames } from "../live/use-names.ts";

const MOST = 100;
const STALE_MS = 60_000;

/** Returns a function that names an author, by the newest users, members and API keys; others by what they are. */
export function useAuthorNames(roomId: string): (author: DocumentAuthor) => string {
  const { atrium } = useCurrent();
  const key = useKey();
  const { nameOf } = useNames(roomId);
  const { data } = useQuery({
    queryKey: key("author names"),
    queryFn: async () => {
      const page = { limit: MOST };
      const [{ members }, { api_keys }] = await Promise.all([
        atrium.organization.listMembers(page),
        atrium.organization.listKeys(page),
      ]);
      return new Map([...members, ...api_keys].map(({ id, name }) => [id, name]));
    },
    staleTime: STALE_MS,
  });
  return ({ type, id }) => {
    if (id === null) return "The organization";
    if (type === "user") return nameOf(id);
    const name = data?.get(id);
    if (type === "key") return name === undefined ? "An API key" : `${name} (API key)`;
    return name ?? "A former member";
  };
}

const MOST_NAMED = 3;

/** For example "Ada, Bo, Cleo and 2 more", of all `total`. */
export function joinNames(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, MOST_NAMED);
  const more = total - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
