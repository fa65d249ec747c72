/** Whether an owner receives mails about webhooks and workflows; nothing where the service sends none. */
import { useQuery } from "@tanstack/react-query";
import { callDashboard } from "../data/api.ts";
import { useCurrent, useIsOwner, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { ErrorMessage } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";

interface Notices {
  readonly wanted: boolean;
  readonly by_mail: boolean;
}

export function NoticesPart() {
  const { organization } = useCurrent();
  const isOwner = useIsOwner();
  const key = useKey();
  const path = `organizations/${organization.id}/notices`;
  const { data, error, refetch } = useQuery({
    queryKey: key("notices"),
    queryFn: () => callDashboard<Notices>("GET", path),
    enabled: isOwner,
  });
  const change = useAction((wanted: boolean) => callDashboard<Notices>("PATCH", path, { wanted }), {
    notice: ({ wanted }) => (wanted ? "You receive mails" : "You receive no mails"),
    invalidates: [key("notices")],
  });
  if (error) return <ErrorMessage error={error} onRetry={refetch} />;
  if (data?.by_mail !== true) return null;
  return (
    <section aria-labelledby="notices">
      <h2 id="notices">Mails</h2>
      <div className="form">
        <SelectField
          label="Webhooks and workflows"
          value={data.wanted ? "on" : "off"}
          disabled={change.isPending}
          onChange={(event) => change.mutate(event.currentTarget.value === "on")}
          hint={`To you, as an owner of ${organization.name}: much waits for a webhook, or the service has disabled a webhook or workflow.`}
        >
          <option value="on">Send me mails</option>
          <option value="off">Send me none</option>
        </SelectField>
      </div>
    </section>
  );
}
