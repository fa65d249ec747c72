/** The log of API requests: the latest of them, or the one with a request ID. */
import { chosen, useFilters } from "../data/use-filters.ts";
import { CursorPager } from "../ui/cursor-pager.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { FilterSelect } from "../ui/filter-select.tsx";
import { Loading } from "../ui/loading.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { RequestTable } from "./request-table.tsx";
import { useRequest, useRequests } from "./use-requests.ts";

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
