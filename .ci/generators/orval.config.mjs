export default {
  api: {
    input: process.env.DOCUMENT,
    output: { target: `${process.env.OUT}/orval.ts`, client: "fetch" },
  },
};
