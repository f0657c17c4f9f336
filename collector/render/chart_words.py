"""The words of charts, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from collector import levels
from collector.comparison import Column, Comparison
from collector.metrics import Better, Metric

ENGLISH, CHINESE = "en", "zh"

_ENGLISH = {
    "higher": "higher is better",
    "lower": "lower is better",
    "ratio": "ratio to {baseline}",
    "baseline": "{baseline} (baseline)",
    "repeats": "{few} to {many} repeats",
    "same_repeats": "{many} repeats",
    "one_repeat": "one repeat: no error bars, differences are not tested against noise",
    "stddev": "error bars: standard deviation over the repeats",
    "interval": "error bars: 95% interval of the ratio",
    "expected": "dotted: the ratio of the clocks or quotas",
    "versions": "tool versions differ: {versions}",
    "gaps": "no result from {missing} of {planned} points",
    "left_out": "not drawn, {sweep} not known: {rows}",
}
_CHINESE = {
    "higher": "越高越好",
    "lower": "越低越好",
    "ratio": "与 {baseline} 之比",
    "baseline": "{baseline}（基准）",
    "repeats": "重复 {few} 至 {many} 次",
    "same_repeats": "重复 {many} 次",
    "one_repeat": "只测一次：无误差线，差异未经检验",
    "stddev": "误差线：重复测量的标准差",
    "interval": "误差线：比值的 95% 置信区间",
    "expected": "点线：频率或配额之比",
    "versions": "工具版本不同：{versions}",
    "gaps": "{planned} 个测点中有 {missing} 个没有结果",
    "left_out": "未画出，{sweep}未知：{rows}",
    # titles of metrics
    "requests per second": "每秒请求数",
    "new-order transactions per minute": "每分钟新订单事务数",
    "transactions per second": "每秒事务数",
    "I/O operations per second": "每秒读写次数",
    "throughput": "吞吐量",
    "operations per second": "每秒操作数",
    "events per second": "每秒事件数",
    "spread of events over threads, of their mean": "各线程事件数的离散程度（相对平均值）",
    "mean latency": "平均延迟",
    "mean response time": "平均响应时间",
    "lowest latency": "最低延迟",
    "median latency": "延迟中位数",
    "95th percentile latency": "延迟第 95 百分位",
    "99th percentile latency": "延迟第 99 百分位",
    "highest latency": "最高延迟",
    "upper bound of the highest latency": "最高延迟的上界",
    # units
    "requests/s": "请求/秒",
    "transactions/s": "事务/秒",
    "operations/s": "操作/秒",
    "events/s": "事件/秒",
    "ms": "毫秒",
    # what is swept, and words in the names of series and conditions
    "threads": "线程数",
    "connections": "连接数",
    "read": "读",
    "write": "写",
    "as found": "原始设置",
    "turbo on": "睿频开",
    "turbo off": "睿频关",
    "turbo as found": "睿频为原始设置",
    "physical": "物理机",
    "virtual": "虚拟机",
    "local": "本机",
    "remote": "远程",
    "bridged": "桥接",
}


@dataclass(frozen=True)
class Words:
    """What a chart says in one language.

    :param messages: phrases by their name, and English texts with their translation; what has none stays as
        it is.
    """

    messages: Mapping[str, str]

    def say(self, message: str, **facts: object) -> str:
        return self.messages[message].format(**facts)

    def of(self, text: str) -> str:
        """A text of the collector's, translated if it is known."""
        return self.messages.get(text, text)

    def metric(self, metric: Metric) -> str:
        return self.of(metric.title)

    def direction(self, metric: Metric) -> str:
        return self.say("higher" if metric.better is Better.HIGHER else "lower")

    def series(self, series: str) -> str:
        """ "read 4K", word by word."""
        return " ".join(map(self.of, series.split()))

    def condition(self, column: Column) -> str:
        """The condition's label, with its mark if it was not achieved."""
        return self.of(column.label) + column.head.removeprefix(column.label)

    def fixed(self, comparison: Comparison) -> list[str]:
        """The other factors' levels that the whole chart shares."""
        found = comparison.fixed.items()
        return [self.of(levels.label(name, level)) for name, level in found if level != levels.AS_FOUND]


WORDS = {ENGLISH: Words(_ENGLISH), CHINESE: Words(_CHINESE)}
