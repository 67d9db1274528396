import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { messageOf } from "../api/api-error.ts";

/** Long enough to read the message and to reach the button. */
const UNDO_MS = 10_000;

/** Confirms an action, with a button to undo it if that is possible. */
export const tellDone = (message: string, undo?: () => Promise<unknown>): void => {
  const id = notifications.show({
    message: undo ? (
      <div className="spread">
        {message}
        <Button
          variant="default"
          size="compact-xs"
          onClick={() => {
            notifications.hide(id);
            void undo().catch(tellFailed);
          }}
        >
          Undo
        </Button>
      </div>
    ) : (
      message
    ),
    color: "teal",
    withBorder: true,
    ...(undo && { autoClose: UNDO_MS }),
  });
};

/** Says that something was not done, and why. */
export const tellFailed = (error: unknown): void => {
  notifications.show({
    title: "That did not work",
    message: messageOf(error),
    color: "red",
    withBorder: true,
    autoClose: 10_000,
  });
};
