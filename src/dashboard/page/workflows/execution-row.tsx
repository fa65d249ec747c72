/** A run: its status and, when expanded, its result and logs. */
import type { WorkflowExecution as Execution } from "atrium/server";
import { useState } from "react";
import { CodeBlock, prettyJson } from "../ui/copy.tsx";
import { Badge, CausedBy } from "../ui/feedback.tsx";
import { Time } from "../ui/time.tsx";

export function ExecutionRow({ execution }: { readonly execution: Execution }) {
  const [isOpen, setOpen] = useState(false);
  const isFailed = execution.status === "failed";
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Badge tone={isFailed ? "bad" : "good"}>{execution.status}</Badge>
          <code>{execution.event}</code>
          <span className="grow soft">{execution.result.split("\n")[0]}</span>
          {execution.version !== undefined && <span className="soft">v{execution.version}</span>}
          <span className="soft">{Math.round(execution.duration_ms)} ms</span>
          <Time at={execution.created_at} />
        </summary>
        {isOpen && <ExecutionDetail execution={execution} />}
      </details>
    </li>
  );
}

export const ExecutionDetail = ({ execution }: { readonly execution: Execution }) => (
  <div className="detail">
    <CodeBlock
      what={execution.status === "failed" ? "Error" : "Result"}
      text={prettyJson(execution.result)}
    />
    <CausedBy requestId={execution.request_id} />
    {execution.logs.length > 0 && (
      <ol className="logs" aria-label="Logs">
        {execution.logs.map(({ level, message, timestamp }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: log lines never move, and can be equal
          <li key={index}>
            <span className={`level ${level}`}>{level}</span>
            <code>{message}</code>
            <time dateTime={timestamp} className="soft small">
              {timestamp.slice(11, 23)}
            </time>
          </li>
        ))}
      </ol>
    )}
  </div>
);
