// Six P-states for one CPU of the amd64 guest. The kernel changes state by a byte written to the CPU's own port,
// which QEMU appends to a file: ../told.py reads it back, and numbers the states as this table does.
// ../guests.py fills in $cpu and $port, and makes one table for each CPU.

DefinitionBlock ("", "SSDT", 2, "PERFLB", "PSTATES", 1)
{
    External (\_SB.CPUS.C00$cpu, ProcessorObj)

    Scope (\_SB.CPUS.C00$cpu)
    {
        Name (_PCT, Package ()
        {
            ResourceTemplate () { Register (SystemIO, 8, 0, $port) },
            ResourceTemplate () { Register (SystemIO, 8, 0, $port) }
        })
        Name (_PSS, Package ()  // MHz, mW, two latencies in us, what is written, what would be read
        {
            Package () { 2600, 65000, 10, 10, 0, 0 },
            Package () { 2400, 55000, 10, 10, 1, 1 },
            Package () { 2000, 45000, 10, 10, 2, 2 },
            Package () { 1600, 35000, 10, 10, 3, 3 },
            Package () { 1200, 25000, 10, 10, 4, 4 },
            Package () { 800, 15000, 10, 10, 5, 5 }
        })
        Name (_PPC, 0)
    }
}
