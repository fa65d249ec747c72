/** Explains how the page updates, and lets the person join the room to watch it live. */
import { Button, Icon } from "../ui/button.tsx";
import { useLive } from "./live.tsx";

export function JoinBar({ isClosed = false }: { readonly isClosed?: boolean }) {
  const { client, isJoining, join, leave } = useLive();
  if (client !== null) {
    return (
      <div className="join-bar live">
        <Icon name="live" />
        <p>Watching live as a viewer. You are shown as present.</p>
        <Button onClick={leave}>Stop watching</Button>
      </div>
    );
  }
  return (
    <div className="join-bar">
      <Icon name="live" />
      <p className="soft">Updates every 2 s. You are not shown as present.</p>
      <Button isBusy={isJoining} disabled={isClosed} onClick={join}>
        Watch live
      </Button>
    </div>
  );
}
