/** How the runs of a workflow went, newest first, as they happen. */
import { usePage } from "../data/use-page.ts";
import { Refusal } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { ExecutionRow } from "./execution-row.tsx";
import { useExecutions } from "./use-workflows.ts";

export function Executions({ workflowId }: { readonly workflowId: string }) {
  const { limit, offset, turnTo } = usePage();
  const { data, error, refetch } = useExecutions(workflowId, { limit, offset });
  return (
    <section aria-labelledby="executions">
      <h2 id="executions">Runs</h2>
      <Refusal error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="records">
        {data?.executions.map((execution) => (
          <ExecutionRow key={execution.id} execution={execution} />
        ))}
      </ul>
      {data?.total === 0 && (
        <p className="soft">It has not run yet. Run it above, or let one of its events happen.</p>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} turnTo={turnTo} />}
    </section>
  );
}
