import cluster from "node:cluster";

/*
 * Questions that one server process asks all others on its machine, such as "which requests did you get?". They
 * go through the first process, which only watches and passes them on. Other machines are not asked.
 */

type Answering = (question: never) => unknown;

export interface Processes {
  /** Says how this process answers a question about a topic. */
  answer(topic: string, answering: Answering): void;
  /** Asks every process, this one included. @returns the answers that came in time. */
  ask<Answer>(topic: string, question: unknown): Promise<Answer[]>;
}

/** A process that is busy for longer is left out. */
const PATIENCE_MS = 1_000;

interface Message {
  readonly rapport: "ask" | "asked" | "answer";
  readonly id: number;
  readonly topic: string;
  /** The number of the process that asks. */
  readonly from: number;
  readonly content: unknown;
  /** How many processes were asked. */
  readonly asked: number;
}

const isOurs = (message: unknown): message is Message =>
  typeof message === "object" && message !== null && "rapport" in message;

export function createProcesses(): Processes {
  const topics = new Map<string, Answering>();
  const answerHere = (topic: string, question: unknown): unknown =>
    topics.get(topic)?.(question as never);
  const answer: Processes["answer"] = (topic, answering) => void topics.set(topic, answering);
  const own = cluster.worker;
  if (!own) {
    return {
      answer,
      ask: async <Answer>(topic: string, question: unknown) => [
        (await answerHere(topic, question)) as Answer,
      ],
    };
  }
  const waiting = new Map<number, (message: Message) => void>();
  let asked = 0;
  own.on("message", async (message: unknown) => {
    if (!isOurs(message)) return;
    if (message.rapport === "answer") return waiting.get(message.id)?.(message);
    try {
      const content = await answerHere(message.topic, message.content);
      process.send?.({ ...message, rapport: "answer", content });
    } catch {
      // Left out, like a process that is too busy: the caller gets the others' answers.
    }
  });
  return {
    answer,
    ask<Answer>(topic: string, question: unknown): Promise<Answer[]> {
      const id = ++asked;
      const answers: Answer[] = [];
      return new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(answers);
        };
        const timer = setTimeout(finish, PATIENCE_MS);
        waiting.set(id, (message) => {
          answers.push(message.content as Answer);
          if (answers.length === message.asked) finish();
        });
        process.send?.({ rapport: "ask", id, topic, from: own.id, content: question, asked: 0 });
      });
    },
  };
}

/** Passes questions and answers on, in the first process. */
export function relayBetweenProcesses(): void {
  cluster.on("message", (_worker, message: unknown) => {
    if (!isOurs(message)) return;
    const workers = Object.values(cluster.workers ?? {}).filter((each) => each?.isConnected());
    if (message.rapport === "answer") cluster.workers?.[message.from]?.send(message);
    if (message.rapport !== "ask") return;
    const passed: Message = { ...message, rapport: "asked", asked: workers.length };
    for (const worker of workers) worker?.send(passed);
  });
}
