/** The history of a document: its versions, its edit history, their authors, and the version that the page shows. */
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { AtriumServer, DocumentAuthor, DocumentVersion } from "atrium/server";
import { useEffect, useRef } from "react";
import { useSearchParams } from "wouter";
import { withParameters } from "../data/address.ts";
import { type ActionOptions, useAction, useApiQuery, useCurrent, useKey } from "../data/organization.tsx";
import { useNames } from "../live/live.tsx";

/** The document and its room. */
export interface DocumentPlace {
  readonly roomId: string;
  readonly name: string;
}

/** The version's name, or its number. */
export const titleOf = ({ name, version }: Pick<DocumentVersion, "name" | "version">): string =>
  name ?? `Version ${version}`;

const VERSIONS_PER_PAGE = 100;
const ENTRIES_PER_PAGE = 20;
/** Others name and delete versions, and suggest changes, which changes nothing else. */
const REFRESH_MS = 10_000;

const historyOf = ({ roomId, name }: DocumentPlace) => ["room", roomId, "history", name];

/** A list of the history, newest first, continued by its cursor. */
function useHistoryList<Page extends { readonly next: number | null }>(
  place: DocumentPlace,
  list: string,
  limit: number,
  read: (documents: AtriumServer["documents"], page: { limit: number; before?: number }) => Promise<Page>,
) {
  const { documents } = useCurrent().atrium;
  const key = useKey();
  return useInfiniteQuery({
    queryKey: key(...historyOf(place), list),
    initialPageParam: null as number | null,
    queryFn: ({ pageParam: before }) => read(documents, { limit, ...(before !== null && { before }) }),
    getNextPageParam: ({ next }) => next,
    refetchInterval: list !== "trail" && REFRESH_MS,
  });
}

export const useVersions = (place: DocumentPlace) =>
  useHistoryList(place, "versions", VERSIONS_PER_PAGE, (documents, page) =>
    documents.versions(place.roomId, place.name, page),
  );

export const useSuggestions = (place: DocumentPlace) =>
  useHistoryList(place, "suggestions", ENTRIES_PER_PAGE, (documents, page) =>
    documents.suggestions(place.roomId, place.name, page),
  );

/** The edit history. */
export const useTrail = (place: DocumentPlace) =>
  useHistoryList(place, "trail", ENTRIES_PER_PAGE, (documents, page) =>
    documents.trail(place.roomId, place.name, page),
  );

/** Reads the history again when the document has changed; `seq` is the number of its latest update. */
export function useFreshHistory(place: DocumentPlace, seq: number): void {
  const queries = useQueryClient();
  const queryKey = useKey()(...historyOf(place));
  const latestKey = useRef(queryKey);
  latestKey.current = queryKey;
  const known = useRef(seq);
  useEffect(() => {
    if (known.current === seq) return;
    known.current = seq;
    void queries.invalidateQueries({ queryKey: latestKey.current });
  }, [queries, seq]);
}

/** An action on the document's versions. */
export function useHistoryAction<Result, Input = void>(
  place: DocumentPlace,
  act: (documents: AtriumServer["documents"], input: Input) => Promise<Result>,
  options: Pick<ActionOptions<Result, Input>, "toast" | "undo" | "onDone">,
) {
  return useAction(({ documents }, input: Input) => act(documents, input), {
    ...options,
    refreshes: [historyOf(place), ["room", place.roomId, "documents"]],
  });
}

const MAX_AUTHORS = 100;
const NAMES_STALE_MS = 60_000;

/** Returns a function that names an author, by the newest users, members and API keys; others by their kind. */
export function useAuthorNames(roomId: string): (author: DocumentAuthor) => string {
  const { nameOf } = useNames(roomId);
  const { data } = useApiQuery(
    ["author names"],
    async ({ organization }) => {
      const page = { limit: MAX_AUTHORS };
      const [{ members }, { api_keys }] = await Promise.all([
        organization.listMembers(page),
        organization.listKeys(page),
      ]);
      return new Map([...members, ...api_keys].map(({ id, name }) => [id, name]));
    },
    { staleTime: NAMES_STALE_MS },
  );
  return ({ type, id }) => {
    if (id === null) return "The organization";
    if (type === "user") return nameOf(id);
    const name = data?.get(id);
    if (type === "key") return name === undefined ? "An API key" : `${name} (API key)`;
    return name ?? "A former member";
  };
}

/** The number of a version; null for the document as it is. */
export type Chosen = number | null;

const NOW = "now";

/** The shown version, and the one that it is compared with: kept in the URL, so that they can be shared. */
export function useChoice() {
  const [parameters, setParameters] = useSearchParams();
  const set = (name: string, value: string) =>
    setParameters((known) => withParameters(known, { [name]: value }), { replace: true });
  return {
    version: parseVersion(parameters.get("version")) ?? null,
    /** Undefined when nothing is compared. */
    comparedWith: parseVersion(parameters.get("compare")),
    choose: (version: Chosen) => set("version", version === null ? "" : `${version}`),
    compareWith: (version: Chosen | undefined) =>
      set("compare", version === undefined ? "" : `${version ?? NOW}`),
  };
}

function parseVersion(text: string | null): Chosen | undefined {
  if (text === NOW) return null;
  return text !== null && /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : undefined;
}
