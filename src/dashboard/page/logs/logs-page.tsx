/** The logs: who changed what in the organization. */
import { Page } from "../ui/page.tsx";
import { AuditPart } from "./audit-part.tsx";

export const LogsPage = () => (
  <Page title="Logs">
    <AuditPart />
  </Page>
);
