"""Trains the default GPT with PyTorch's DistributedDataParallel over Gloo, from the state and on the
samples that bench_gpt_steps has left in FOLDER, as it did.

  torch_ddp.py RANKS WARMUP STEPS FOLDER

Prints the JSON of bench_gpt_steps (the first loss is that of the second step), and two losses that
are wrong on purpose: of the first step without rotary positions, of the second without an update."""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

import torch_gpt

LR = 0.003


def wrong_losses(state, contexts, targets):
    with torch.no_grad():
        losses = []
        for step, rotary in ((0, False), (1, True)):
            model = torch_gpt.Gpt(contexts.shape[-1], rotary)
            torch_gpt.load_weights(model, state)
            losses.append(model(contexts[step], targets[step]).item())
    return losses


def blas():
    """The library of matrix products that this process has loaded: Debian has several."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        names = {os.path.basename(line.split()[-1]) for line in maps if "blas" in line}
    return ", ".join(sorted(name for name in names if "openblas" in name) or sorted(names))


def train(rank, ranks, warmup, steps, folder):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    meeting = "file://" + os.path.join(os.path.abspath(folder), "meeting")
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=ranks)
    state = os.path.join(folder, "step-1")
    samples = torch_gpt.read_safetensors(os.path.join(folder, "samples.safetensors"))
    contexts, targets = samples["contexts"].long(), samples["targets"].long()
    model = torch_gpt.Gpt(contexts.shape[-1])
    torch_gpt.load_weights(model, state)
    optimizer = torch_gpt.adamw(model, LR)
    torch_gpt.load_optimizer(optimizer, model, state)
    data_parallel = DistributedDataParallel(model)
    share = contexts.shape[1] // ranks
    mine = slice(rank * share, (rank + 1) * share)
    losses, ends, cpu = [], [], []
    for step in range(warmup - 1 + steps):
        optimizer.zero_grad(set_to_none=False)
        loss = data_parallel(contexts[step, mine], targets[step, mine])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        ends.append(time.perf_counter())
        cpu.append(time.process_time())
    sums = torch.tensor(losses + [cpu[-1] - cpu[warmup - 2]], dtype=torch.float64)
    dist.all_reduce(sums)
    if rank == 0:
        print(json.dumps({"torch": torch.__version__, "blas": blas(),
                          "parameters": sum(p.numel() for p in model.parameters()),
                          "losses": (sums[:-1] / ranks).tolist(),
                          "cpu_seconds": sums[-1].item() / steps,
                          "wrong_losses": wrong_losses(state, contexts, targets),
                          "seconds": [b - a for a, b in zip(ends[warmup - 2 :], ends[warmup - 1 :])]}))
    dist.barrier()


if __name__ == "__main__":
    if len(sys.argv) != 5 or int(sys.argv[2]) < 2 or int(sys.argv[3]) < 1:
        sys.exit("usage: torch_ddp.py RANKS WARMUP STEPS FOLDER; WARMUP at least 2, STEPS at least 1")
    job = [int(word) for word in sys.argv[1:4]]
    torch.multiprocessing.start_processes(train, (*job, sys.argv[4]), job[0], start_method="fork")
