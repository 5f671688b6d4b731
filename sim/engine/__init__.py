"""The serving engine, vLLM 0.33 over the block pool; `Scheduler(EngineConfig(...))` is the way in."""

from sim.engine.config import EngineConfig
from sim.engine.scheduler import Scheduler
from sim.policy import Request, Shares, Step

__all__ = ["EngineConfig", "Request", "Scheduler", "Shares", "Step"]
