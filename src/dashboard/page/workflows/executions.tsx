/** The runs of a workflow, newest first, updated live. */
import { useFilters } from "../data/use-filters.ts";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { ExecutionRow } from "./execution-row.tsx";
import { useExecutions } from "./use-executions.ts";

export function Executions({ workflowId }: { readonly workflowId: string }) {
  const filters = useFilters();
  const { limit, offset } = filters;
  const { data, error, refetch } = useExecutions(workflowId, { limit, offset });
  return (
    <section aria-labelledby="executions">
      <h2 id="executions">Runs</h2>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="records">
        {data?.executions.map((execution) => (
          <ExecutionRow key={execution.id} execution={execution} />
        ))}
      </ul>
      {data?.total === 0 && <p className="soft">No runs yet. Run the workflow above to see one.</p>}
      {data && <Pager filters={filters} total={data.total} />}
    </section>
  );
}
