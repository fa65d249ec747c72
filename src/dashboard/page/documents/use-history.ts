/** Queries and actions for the history of a document. */
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { HistoryOptions, RollbackOptions } from "atrium/server";
import { useEffect, useRef } from "react";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";

/** Which document of which room. */
export interface DocumentPlace {
  readonly roomId: string;
  readonly name: string;
}

const VERSIONS_PER_PAGE = 100;
const ENTRIES_PER_PAGE = 20;
/** Others name and delete versions, which changes nothing else. */
const REFRESH_MS = 10_000;

/** Where a list begins: before nothing. */
const NEWEST: number | null = null;
const pageAt = (limit: number, before: number | null): HistoryOptions => ({
  limit,
  ...(before !== null && { before }),
});

const useHistoryKey = ({ roomId, name }: DocumentPlace) => useKey()("room", roomId, "history", name);

/** The versions, newest first. */
export function useVersions(place: DocumentPlace) {
  const { atrium } = useCurrent();
  return useInfiniteQuery({
    queryKey: [...useHistoryKey(place), "versions"],
    initialPageParam: NEWEST,
    queryFn: ({ pageParam }) =>
      atrium.documents.versions(place.roomId, place.name, pageAt(VERSIONS_PER_PAGE, pageParam)),
    getNextPageParam: ({ next }) => next,
    refetchInterval: REFRESH_MS,
  });
}

/** Who wrote what, newest first. */
export function useTrail(place: DocumentPlace) {
  const { atrium } = useCurrent();
  return useInfiniteQuery({
    queryKey: [...useHistoryKey(place), "trail"],
    initialPageParam: NEWEST,
    queryFn: ({ pageParam }) =>
      atrium.documents.trail(place.roomId, place.name, pageAt(ENTRIES_PER_PAGE, pageParam)),
    getNextPageParam: ({ next }) => next,
  });
}

/** Reads the history again when the document has changed; `seq` is the number of its latest update. */
export function useFreshHistory(place: DocumentPlace, seq: number): void {
  const queries = useQueryClient();
  const key = useHistoryKey(place);
  const queryKey = useRef(key);
  queryKey.current = key;
  const known = useRef(seq);
  useEffect(() => {
    if (known.current === seq) return;
    known.current = seq;
    void queries.invalidateQueries({ queryKey: queryKey.current });
  }, [queries, seq]);
}

/** Names the document as it is. */
export function useCreateVersion(place: DocumentPlace) {
  const { atrium } = useCurrent();
  return useAction((name: string) => atrium.documents.createVersion(place.roomId, place.name, name), {
    notice: "Version named",
    invalidates: [useHistoryKey(place)],
    isForm: true,
  });
}

/** Names a version, or takes its name. */
export function useRenameVersion(place: DocumentPlace, version: number) {
  const { atrium } = useCurrent();
  return useAction(
    (name: string | null) => atrium.documents.renameVersion(place.roomId, place.name, version, name),
    { notice: "Version saved", invalidates: [useHistoryKey(place)], isForm: true },
  );
}

export function useDeleteVersion(place: DocumentPlace, version: number) {
  const { atrium } = useCurrent();
  return useAction(() => atrium.documents.deleteVersion(place.roomId, place.name, version), {
    notice: "Version deleted",
    invalidates: [useHistoryKey(place)],
    isForm: true,
  });
}

/** Brings the document back to a version. */
export function useRestoreVersion(place: DocumentPlace, version: number) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.documents.restoreVersion(place.roomId, place.name, version), {
    notice: (applied) => (applied ? "Version restored" : "The document shows this version already"),
    invalidates: [useHistoryKey(place), key("room", place.roomId, "documents")],
    isForm: true,
  });
}

/** Takes back what a user wrote. */
export function useRollBack(place: DocumentPlace, options: RollbackOptions) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.documents.rollBack(place.roomId, place.name, options), {
    notice: (applied) => (applied ? "Changes taken back" : "There was nothing to take back"),
    invalidates: [useHistoryKey(place), key("room", place.roomId, "documents")],
    isForm: true,
  });
}
