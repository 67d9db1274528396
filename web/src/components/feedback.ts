import { notifications } from "@mantine/notifications";
import { messageOf } from "../api/api-error.ts";

/** Says that something was done. */
export const tellDone = (message: string): void => {
  notifications.show({ message, color: "teal", withBorder: true });
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
