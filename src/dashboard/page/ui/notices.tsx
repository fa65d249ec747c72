/** Notifications of results and errors, shown for a while. */
import { Toast } from "@base-ui/react/toast";
import { Icon } from "./icon.tsx";

export function Notices() {
  const { toasts } = Toast.useToastManager();
  return (
    <Toast.Portal>
      <Toast.Viewport className="notices">
        {toasts.map((toast) => (
          <Toast.Root key={toast.id} toast={toast} className={`notice ${toast.type ?? ""}`}>
            <div>
              <Toast.Title className="notice-title" render={<p />} />
              <Toast.Description className="soft" />
            </div>
            <Toast.Close className="button quiet" aria-label="Dismiss">
              <Icon name="close" />
            </Toast.Close>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  );
}
