# PowerShell completion for ecm
Register-ArgumentCompleter -Native -CommandName ecm -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object { if ($_.PSObject.Properties['Value']) { [string]$_.Value } else { $_.Extent.Text } })
    if ($wordToComplete -eq '') { $words += if ($PSVersionTable.PSVersion -ge '7.3') { '' } else { '""' } }
    ecm __complete powershell -- @words 2>$null | ForEach-Object {
        $name, $description = $_ -split "`t", 2
        if (-not $description) { $description = $name }
        $quoted = if ($name -match '[^\w./:=+-]') { "'" + ($name -replace "['$([char]0x2018)$([char]0x2019)]", '$0$0') + "'" } else { $name }
        [System.Management.Automation.CompletionResult]::new($quoted, $name, 'ParameterValue', $description)
    }
}
