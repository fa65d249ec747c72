/** The log of API requests: the latest of them, or the one with a request ID. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { RequestFilter } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { chosen, useFilters } from "../data/use-filters.ts";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { FilterSelect, SearchBox } from "../ui/fields.tsx";
import { CursorPager } from "../ui/table.tsx";
import { RequestTable } from "./request-table.tsx";

/** A page of the log, refreshed every `refreshMs` milliseconds. */
function useRequests(filter: RequestFilter, refreshMs: number | false) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("requests", filter),
    queryFn: () => atrium.requests.list(filter),
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
}

/** The log is about a second late: a request that it does not have yet is asked for again a few times. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1_000;

/** One request by its ID; nothing for an empty one. */
function useRequest(requestId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("request", requestId),
    queryFn: () => atrium.requests.get(requestId),
    enabled: requestId !== "",
    refetchInterval: ({ state }) =>
      state.status === "error" && state.errorUpdateCount < MAX_ATTEMPTS ? RETRY_MS : false,
  });
}

const PAGE_SIZE = 25;
const REFRESH_MS = 5_000;

export function RequestsPart() {
  const filters = useFilters();
  const { get, set } = filters;
  const id = get("id");
  return (
    <section aria-labelledby="requests">
      <h2 id="requests">API requests</h2>
      <div className="filters">
        <SearchBox label="Find a request ID" initial={id} onSearch={(text) => set("id", text.trim())} />
        <FilterSelect
          label="Requests to show"
          filters={filters}
          name="show"
          all="All requests"
          options={{ failed: "Refused and failed" }}
        />
      </div>
      {id === "" ? <Latest /> : <One id={id} />}
      <p className="soft">
        About a second late; where there are many, successes are sampled. Read more about{" "}
        <a href="/docs/guides/operating#request-log">the request log</a>.
      </p>
    </section>
  );
}

function Latest() {
  const { get, after, goAfter } = useFilters();
  const filter = chosen({ after, credentialId: get("credential"), operation: get("operation") });
  const query = { ...filter, limit: PAGE_SIZE, ...(get("show") === "failed" && { failed: true }) };
  const { data, error, refetch } = useRequests(query, after === "" ? REFRESH_MS : false);
  return (
    <>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <RequestTable requests={data.requests} />}
      {data && <CursorPager after={after} cursor={data.cursor} goAfter={goAfter} />}
    </>
  );
}

function One({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRequest(id);
  return (
    <>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <RequestTable requests={[data]} />}
    </>
  );
}
